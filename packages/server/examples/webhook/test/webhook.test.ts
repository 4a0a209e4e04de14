import { createHmac } from "node:crypto";
import { loadApp } from "react-router-express-server/testing";
import request from "supertest";
import { expect, test } from "vitest";

const SECRET = "key";
const { app, lines } = await loadApp({ env: { WEBHOOK_SECRET: SECRET } });

const NOW = Math.floor(Date.now() / 1000);
const PAYMENT = JSON.stringify({ id: "p1", amount: 7 });

const sign = (body: string, time = NOW, secret = SECRET) =>
  `t=${time},v1=${createHmac("sha256", secret).update(`${time}.${body}`).digest("hex")}`;

test.each([
  ["a signed payment", PAYMENT, sign(PAYMENT), 204],
  ["a signed payment with other spaces", ` ${PAYMENT}`, sign(` ${PAYMENT}`), 204],
  ["a changed payment", PAYMENT.replace("7", "8"), sign(PAYMENT), 401],
  ["another secret", PAYMENT, sign(PAYMENT, NOW, "other"), 401],
  ["an old request", PAYMENT, sign(PAYMENT, NOW - 600), 401],
  ["half a signature", PAYMENT, sign(PAYMENT).slice(0, -2), 401],
  ["no signature", PAYMENT, "", 401],
  ["signed text", "paid", sign("paid"), 400],
  ["another body", '{"id":1}', sign('{"id":1}'), 400],
  ["an empty body", "", sign(""), 400],
])("%s has its status", async (_title, body, signature, status) => {
  const response = await request(app).post("/webhooks/payments").type("json").set("Signature", signature).send(body);
  expect(response.status).toBe(status);
});

test("a payment is handled, and logged", () => {
  expect(lines).toContainEqual(expect.objectContaining({ msg: "payment received", paymentId: "p1", amount: 7 }));
});
