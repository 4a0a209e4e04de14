import { expect, test } from "vitest";
import { rejectMalformedBodies } from "./malformed-bodies";

test.each([
  ["application/json", "{", 400],
  ["multipart/form-data; boundary=b", "{}", 415],
])("a body of the type %s that is %j is rejected as JSON with %d", async (type, body, status) => {
  const request = new Request("http://localhost", { method: "POST", headers: { "Content-Type": type }, body });
  await rejectMalformedBodies({ request } as never, async () => new Response());
  await expect(request.json()).rejects.toMatchObject({ init: { status } });
});
