// Where pages are from: `flitwise serve`, or a plain file server.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { createInterface } from "node:readline";

// A server at a free port, or at that of `origin`; it is ended as Ctrl-C ends it.
export async function serve({ origin = "http://127.0.0.1:0", options = [] } = {}) {
  const { port } = new URL(origin);
  const child = spawn(process.env.FLITWISE_COMMAND, ["serve", "--port", port || "0", ...options]);
  const [line] = await once(createInterface(child.stdout), "line");
  const end = async () => {
    const exit = once(child, "exit");
    child.kill("SIGINT");
    const [code] = await exit;
    assert.equal(code, 0);
  };
  return { origin: line.replace(/\/$/, ""), end };
}

const KINDS = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".wasm": "application/wasm" };

// A server of the files in a folder.
export async function fileServer(folder) {
  const server = createServer(async ({ url }, response) => {
    const name = new URL(url, "http://localhost").pathname.slice(1) || "index.html";
    try {
      const body = await readFile(join(folder, name));
      response.writeHead(200, { "content-type": KINDS[extname(name)] ?? "application/octet-stream" }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((listening) => { server.listen(0, "127.0.0.1", listening); });
  return { origin: `http://127.0.0.1:${server.address().port}`, end: () => server.close() };
}

// Holds a page to it that, whatever it does, it writes no error and asks nobody but its own server.
export function watch(t, context, page, origin) {
  const faults = [];
  page.on("console", (message) => { if (message.type() === "error") faults.push(message.text()); });
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => {
    const isOwn = request.url().startsWith(`${origin}/`) || request.url().startsWith("data:");
    if (!isOwn) faults.push(`a request to ${request.url()}`);
  });
  t.after(async () => {
    await context.close();
    assert.deepEqual(faults, []);
  });
}
