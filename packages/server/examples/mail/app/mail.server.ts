import { createTransport } from "nodemailer";
import { createContext } from "react-router";
import * as v from "valibot";

const Address = v.pipe(v.string(), v.email());

export const mailSettings = {
  /** With `log`, mails are written to the log, and not sent. */
  SMTP_URL: v.pipe(v.string(), v.regex(/^(log$|smtps?:\/\/.)/, "log, or like smtps://user:password@smtp.example.org")),
  MAIL_FROM: Address,
  MAIL_TO: Address,
};

export type Mail = { subject: string; text: string; replyTo?: string | undefined };
export type Mailer = {
  /** Resolves with whether the SMTP server has accepted the mail. Otherwise, the log has the error. */
  send: (mail: Mail) => Promise<boolean>;
};

export const mailContext = createContext<Mailer>();

/** The user waits for the mail, so all must be over before HANDLER_TIMEOUT_MS. */
const TIMEOUTS_MS = { connectionTimeout: 5000, greetingTimeout: 5000, socketTimeout: 10_000 };

type Options = {
  settings: { SMTP_URL: string; MAIL_FROM: string; MAIL_TO: string };
  log: Record<"info" | "error", (fields: object, message: string) => void>;
};

/** Sends mails from the site to the team. */
export function createMailer({ settings: { SMTP_URL, MAIL_FROM, MAIL_TO }, log }: Options): Mailer {
  if (SMTP_URL === "log") {
    return {
      async send(mail) {
        log.info({ mail }, "mail not sent: SMTP_URL is log");
        return true;
      },
    };
  }
  const url = new URL(SMTP_URL);
  for (const [name, value] of Object.entries(TIMEOUTS_MS)) url.searchParams.set(name, String(value));
  const transport = createTransport(url.href);
  return {
    async send(mail) {
      try {
        // From the user's own address, providers would reject it as forged.
        await transport.sendMail({ ...mail, from: MAIL_FROM, to: MAIL_TO });
        return true;
      } catch (err) {
        log.error({ err }, "mail not sent");
        return false;
      }
    },
  };
}
