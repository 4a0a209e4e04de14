// Stock Express, to compare with: it serves the files of a folder.
import express from "express";

const server = express()
  .use(express.static(process.argv[2] ?? ""))
  .listen(0, "127.0.0.1", () => {
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    console.log(JSON.stringify({ msg: "ready", port }));
  });
