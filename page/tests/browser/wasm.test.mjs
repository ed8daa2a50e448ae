// The engine as WebAssembly against the same engine as a native program: models to 1e-9 (the refined one to what
// it iterates to), simulations bit by bit but for the widths of intervals, which are the same to 1e-12.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";

const { FLITWISE_PAGE: folder, FLITWISE_NATIVE: native } = process.env;
let engine;
let program;
let lines;

const text = (at, length) => new TextDecoder().decode(new Uint8Array(engine.memory.buffer, at, length));

function inWasm(request) {
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const at = engine.reserve(bytes.length);
  // only now: the memory may have grown, and with it moved
  new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes);
  const length = engine.answer();
  return JSON.parse(text(engine.answer_at(), length));
}

async function natively(request) {
  program.stdin.write(`${JSON.stringify(request)}\n`);
  return JSON.parse((await lines.next()).value);
}

before(async () => {
  const page = { now: () => performance.now(), panicked: (at, length) => { throw new Error(text(at, length)); } };
  const module = await WebAssembly.compile(await readFile(`${folder}/engine.wasm`));
  const imports = { page };
  // of the planner, as in worker.js
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] ??= () => assert.fail(`${name} is called`);
  }
  engine = (await WebAssembly.instantiate(module, imports)).exports;
  program = spawn(native, ["answer"], { stdio: ["pipe", "pipe", "inherit"] });
  lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
});

after(() => program.stdin.end());

// What the last step of an iteration was, a difference of numbers that are nearly the same.
const REST = /report\.residual/;
// What a search for the load of saturation leads to, to the tolerance of the search.
const SEARCHED = /expected_errors|load_share_of_saturation/;
// What intervals are computed from: logarithms and gamma functions, which WebAssembly takes from another library.
const WIDTHS = /half_width|lower_95|upper_95|precision|deviation/;

// Numbers as near as `most`, all else the same. Parts of a latency are measured by the latency: they are differences.
function near(one, other, most, path = "", whole = 0) {
  if (typeof one === "number" && typeof other === "number") {
    if (REST.test(path)) return;
    if (SEARCHED.test(path)) most = Math.max(most, 1e-4);
    if (WIDTHS.test(path)) most = Math.max(most, 1e-12);
    const scale = Math.max(Math.abs(one), Math.abs(other), 1e-12, path.endsWith("_cycles") ? whole : 0);
    assert.ok(Math.abs(one - other) <= most * scale, `${path}: ${one} and ${other}`);
  } else if (typeof one === "object" && one !== null && other !== null) {
    assert.deepEqual(Object.keys(one), Object.keys(other), path);
    const latency = Math.max(whole, Number(one.network_latency_cycles) || 0);
    for (const key of Object.keys(one)) near(one[key], other[key], most, `${path}.${key}`, latency);
  } else {
    assert.equal(one, other, path);
  }
}

const presets = ["router16", "router16-on-off", "cube6", "mesh4x4", "torus8x8", "fat-mesh", "mediaworm-quick",
  "router-nic-quick", "admission-quick", "congestion-quick", "power-quick", "recn64-quick"];

// The refined model iterates until a step is small, and a last digit of a logarithm can decide whether one more is taken.
function tolerance(name, model) {
  if (model !== "refined") return 1e-9;
  return name.endsWith("on-off") ? 2e-3 : 1e-8;
}

test("models answer alike", async () => {
  for (const name of presets) {
    const { text: scenario } = inWasm({ ask: "preset", name });
    const form = inWasm({ ask: "scenario", text: scenario });
    near(form, await natively({ ask: "scenario", text: scenario }), 0, name);
    for (const { name: model } of form.models) {
      const request = { ask: "solve", text: scenario, model };
      const [here, there] = [inWasm(request), await natively(request)];
      near(here.document, there.document, tolerance(name, model), `${name} ${model}`);
    }
  }
});

test("curves are drawn alike", async () => {
  const { text: scenario } = inWasm({ ask: "preset", name: "router16" });
  for (const models of [["published"], ["refined"]]) {
    const request = { ask: "curve", text: scenario, over: "class.R1.rate=0.001:0.012:12", models };
    const [here, there] = [inWasm(request), await natively(request)];
    assert.equal(here.svg, there.svg);
  }
});

function simulated(ask, step) {
  const run = async () => {
    let found = await ask(step.start);
    while (!found.ended) {
      assert.equal(found.fault, undefined, found.fault);
      found = await ask({ ask: "simulate_step", milliseconds: step.milliseconds });
    }
    return found.document;
  };
  return run();
}

test("simulations are the same bit by bit", async (t) => {
  for (const name of ["router16", "cube6", "mediaworm-quick", "congestion-quick", "recn64-quick"]) {
    const { text: scenario } = inWasm({ ask: "preset", name });
    const set = name.startsWith("recn")
      ? [["measure.end", "60 us"], ["class.hot.start", "20 us"], ["class.hot.end", "30 us"]]
      : [];
    const run = { seed: 3, precision: 0.05, max_messages: 200_000 };
    const start = { ask: "simulate_start", text: scenario, set: set.map(([key, value]) => ({ key, value })), run };
    const here = await simulated(inWasm, { start, milliseconds: 20 });
    const there = await simulated(natively, { start, milliseconds: 70 });
    const [mine, theirs] = [here.run, there.run];
    t.diagnostic(`${name}: ${mine.simulation_seconds.toFixed(2)} s, natively ${theirs.simulation_seconds.toFixed(2)} s`
      + ` on ${theirs.threads} threads`);
    for (const one of [mine, theirs]) {
      for (const key of ["flit_hops_per_second", "threads", "simulation_seconds", "wall_seconds"]) delete one[key];
    }
    near(here, there, 0, name);
  }
});
