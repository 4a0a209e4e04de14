import { type ReactNode, useEffect, useRef } from "react";
import { Form, useNavigation } from "react-router";

type Props = {
  email: string | undefined;
  error: string | undefined;
  passwordKind: "current-password" | "new-password";
  hint?: ReactNode;
  button: string;
};

/** The form of sign-in.tsx and sign-up.tsx. */
export function Credentials({ email, error, passwordKind, hint, button }: Props) {
  const alert = useRef<HTMLParagraphElement>(null);
  const isSending = useNavigation().state === "submitting";
  useEffect(() => {
    if (error) alert.current?.focus();
  }, [error]);
  return (
    <Form method="post">
      <p role="alert" ref={alert} tabIndex={-1}>
        {error}
      </p>
      <label htmlFor="email">E-mail</label>
      <input id="email" name="email" type="email" autoComplete="username" defaultValue={email} required />
      <label htmlFor="password">Password</label>
      <input
        id="password"
        name="password"
        type="password"
        autoComplete={passwordKind}
        minLength={passwordKind === "new-password" ? 12 : undefined}
        aria-describedby={hint ? "hint" : undefined}
        required
      />
      {hint && <small id="hint">{hint}</small>}
      <div>
        <button type="submit" disabled={isSending}>
          {button}
        </button>
      </div>
    </Form>
  );
}
