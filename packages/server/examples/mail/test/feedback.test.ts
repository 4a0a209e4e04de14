import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { createInterface } from "node:readline";
import { startServer } from "react-router-express-server/testing";
import { onTestFinished } from "vitest";
import { expect, test } from "./support/fixtures.ts";

const TEXT = "More cake, please";

const post = (url: string, fields: Record<string, string>) =>
  fetch(`${url}/feedback`, { method: "POST", body: new URLSearchParams(fields), redirect: "manual" });

/** An SMTP server (RFC 5321) that keeps what it gets, and the site's server which sends to it. */
async function startWithSmtp(greeting: string) {
  const received: string[] = [];
  const smtp = createServer((socket) => {
    let isData = false;
    socket.on("error", () => {});
    socket.write(`${greeting}\r\n`);
    createInterface({ input: socket }).on("line", (line) => {
      received.push(line);
      if (line === ".") isData = false;
      if (isData) return;
      isData = line === "DATA";
      socket.write(`${isData ? "354 go on" : line === "QUIT" ? "221 bye" : "250 ok"}\r\n`);
    });
  }).listen(0, "127.0.0.1");
  await once(smtp, "listening");
  const server = await startServer({ SMTP_URL: `smtp://127.0.0.1:${(smtp.address() as AddressInfo).port}` });
  onTestFinished(async () => {
    await server.stop();
    smtp.close();
  });
  return { server, received };
}

test("feedback is sent as a mail to the team, and answers go to the user", async () => {
  const { server, received } = await startWithSmtp("220 ready");
  const response = await post(server.url, { text: TEXT, email: "ada@example.org" });
  expect(response.status).toBe(303);
  expect(new URL(String(response.headers.get("Location")), server.url).href).toBe(`${server.url}/feedback?sent`);
  expect(received.join("\n")).toMatch(/^RCPT TO:<team@example\.org>/m);
  expect(received).toEqual(
    expect.arrayContaining(["From: website@example.org", "Reply-To: ada@example.org", "Subject: Feedback", TEXT]),
  );
});

test("if the mail isn't accepted, the user keeps the text, and the log has the error", async () => {
  const { server } = await startWithSmtp("554 no service");
  const response = await post(server.url, { text: TEXT, email: "" });
  expect(response.status).toBe(502);
  const html = await response.text();
  expect(html).toContain(TEXT);
  expect(html).toContain("could not be sent");
  await expect.poll(() => server.lines.some(({ msg }) => msg === "mail not sent")).toBe(true);
});

test.for([
  ["no text", { text: " ", email: "" }, "Write what we can do better."],
  ["a broken address", { text: TEXT, email: "ada" }, "Enter an address"],
  ["two lines as the address", { text: TEXT, email: "ada@example.org\r\nBcc: eve@example.org" }, "Enter an address"],
] as const)("feedback with %s gets 400, and the text stays", async ([, fields, error], { server }) => {
  const response = await post(server.url, fields);
  expect(response.status).toBe(400);
  const html = await response.text();
  expect(html).toContain(error);
  expect(html).toContain(fields.text);
});

test("without scripts, the form works, and with SMTP_URL=log, the log has the mail", async ({ browser, server }) => {
  const page = await browser.newPage({ javaScriptEnabled: false });
  await page.goto(`${server.url}/feedback`);
  await page.getByLabel("Feedback").fill(TEXT);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("status").waitFor();
  await page.close();
  const find = () => server.lines.find(({ msg }) => msg === "mail not sent: SMTP_URL is log");
  await expect.poll(find).toMatchObject({ mail: { subject: "Feedback", text: TEXT } });
});
