// Starts `flitwise serve`.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
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
