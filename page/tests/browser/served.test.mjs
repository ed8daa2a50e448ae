// What is different about the page of `flitwise serve`, in a real Chromium.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { chromium } from "playwright-core";

import { serve } from "./serve.mjs";

const PATIENCE = 60_000;
let browser;

before(async () => {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
});

after(() => browser?.close());

// A page with its first answer.
async function open(t, origin) {
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.requested = [];
  page.on("request", (request) => page.requested.push(new URL(request.url()).pathname));
  await page.goto(origin);
  await page.waitForFunction(() => performance.getEntriesByName("first answer").length > 0);
  return page;
}

const shows = (page, place, text) =>
  page.waitForFunction(([place, text]) => document.querySelector(place).textContent.includes(text), [place, text]);

async function simulate(page) {
  await page.locator("#precision").selectOption("0.005");
  await page.locator("#here").click();
}

test("the engine is that of the server, and the page says so", async (t) => {
  const server = await serve();
  t.after(server.end);
  const page = await open(t, server.origin);
  const sentence = await page.locator("#version").innerText();
  assert.ok(sentence.includes(`computed by flitwise serve at ${new URL(server.origin).host};`), sentence);
  assert.ok(page.requested.includes("/engine"));
  assert.ok(!page.requested.some((path) => path.includes("wasm") || path.includes("worker")), page.requested.join());
});

test("a server that is gone is told once, and asked again until it is back", async (t) => {
  let server = await serve();
  const { origin } = server;
  const page = await open(t, origin);
  await server.end();
  await page.locator("#preset").selectOption("cube5");
  await shows(page, "#broken", "There is no answer from flitwise serve at");
  server = await serve({ origin });
  t.after(() => server.end());
  await shows(page, "#title", "5-cube");
  assert.equal(await page.locator("#broken").innerText(), "");
});

test("a simulation too many is refused in words; one whose page is left makes room", async (t) => {
  const server = await serve({ options: ["--simulations", "1"] });
  t.after(server.end);
  const [first, second] = [await open(t, server.origin), await open(t, server.origin)];
  await simulate(first);
  await first.locator("#simulated-tables table").first().waitFor();
  await simulate(second);
  await shows(second, "#simulated", "Not done: found 1 simulation under way, which is all that may be at a time");
  await first.goto("about:blank");
  // sooner than the 10 s after which it would be taken to be abandoned
  const since = performance.now();
  while (await second.locator("#simulated-tables table").count() === 0) {
    assert.ok(performance.now() - since < 8_000, await second.locator("#simulated").innerText());
    if (await second.locator("#here").isEnabled()) await simulate(second);
    await second.waitForTimeout(200);
  }
  await second.locator("#stop").click();
  await shows(second, "#simulated", "Stopped");
});

test("the end of the server ends a simulation that is under way", async (t) => {
  const server = await serve();
  const page = await open(t, server.origin);
  await simulate(page);
  await page.locator("#simulated-tables table").first().waitFor();
  const since = performance.now();
  await server.end();
  const took = performance.now() - since;
  assert.ok(took < 2_000, `${took} ms`);
});
