import { type ReactNode, useEffect, useRef } from "react";
import { Form, useNavigation } from "react-router";

type Props = {
  email: string | undefined;
  error: string | undefined;
  passwordKind: "current-password" | "new-password";
  minLength?: number;
  /** Further fields. */
  children?: ReactNode;
  button: string;
};

/** The form of log-in.tsx and register.tsx. */
export function Fields({ email, error, passwordKind, minLength, children, button }: Props) {
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
      {children}
      <label htmlFor="email">E-mail</label>
      <input id="email" name="email" type="email" autoComplete="username" defaultValue={email} required />
      <label htmlFor="password">Password</label>
      <input
        id="password"
        name="password"
        type="password"
        autoComplete={passwordKind}
        minLength={minLength}
        aria-describedby={minLength ? "hint" : undefined}
        required
      />
      {minLength && <small id="hint">{minLength} characters or more, such as four words</small>}
      <div>
        <button type="submit" disabled={isSending}>
          {button}
        </button>
      </div>
    </Form>
  );
}
