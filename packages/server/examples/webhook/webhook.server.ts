import { createHmac, timingSafeEqual } from "node:crypto";
import { type RequestHandler, raw } from "express";
import * as v from "valibot";

export const webhookSettings = { WEBHOOK_SECRET: v.string() };

/** The signature has the time, so that a request that somebody has recorded can't be sent again later. */
const MAX_AGE_S = 300;

const Payment = v.object({ id: v.string(), amount: v.number() });

type Log = { info: (fields: object, message: string) => void };

/** Answers after the payment is saved. If that fails, the sender gets 500, and sends it again. */
export function receivePayments(parts: { settings: { WEBHOOK_SECRET: string }; log: Log }): RequestHandler[] {
  const handle: RequestHandler = async (req, res) => {
    const body: Buffer = req.body ?? Buffer.alloc(0);
    if (!isSigned(body, req.get("Signature"), parts.settings.WEBHOOK_SECRET)) return void res.sendStatus(401);
    const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), Payment), body.toString());
    if (!success) return void res.sendStatus(400);
    await save(output, parts.log);
    res.sendStatus(204);
  };
  // A signature is of bytes: parsed and written again, JSON may have others.
  return [raw({ type: () => true }), handle];
}

/** Yours. Senders repeat a webhook, so ignore an id that you have. */
async function save({ id, amount }: v.InferOutput<typeof Payment>, log: Log) {
  log.info({ paymentId: id, amount }, "payment received");
}

/** The header is `t=SECONDS,v1=HMAC`. The HMAC is of the seconds, a dot and the body, as Stripe and others have it. */
function isSigned(body: Buffer, header = "", secret: string) {
  const { t = "", v1 = "" } = Object.fromEntries(new URLSearchParams(header.replaceAll(",", "&")));
  if (!/^\d+$/.test(t) || Math.abs(Date.now() / 1000 - Number(t)) > MAX_AGE_S) return false;
  const expected = createHmac("sha256", secret).update(`${t}.`).update(body).digest();
  const given = Buffer.from(v1, "hex");
  return given.length === expected.length && timingSafeEqual(given, expected);
}
