// The static folder behind a plain file server, or `flitwise serve` if FLITWISE_SERVED is "yes", in a real Chromium.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { chromium } from "playwright-core";

import { fileServer, serve, watch } from "./serve.mjs";

const { FLITWISE_PAGE: folder, FLITWISE_COMMAND: command, FLITWISE_PICTURES: pictures } = process.env;
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const PATIENCE = 60_000;
const isServed = process.env.FLITWISE_SERVED === "yes";

let server;
let origin;
let browser;

before(async () => {
  server = isServed ? await serve() : await fileServer(folder);
  origin = server.origin;
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
});

after(async () => {
  await browser?.close();
  await server?.end();
});

// Opens the page; whatever it does, it writes no error and asks nobody but its own server.
async function open(t, { hash = "", ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  watch(t, context, page, origin);
  await page.goto(`${origin}/${hash}`);
  await answered(page, 0);
  return page;
}

const count = (page, name) => page.evaluate((name) => performance.getEntriesByName(name).length, name);

// Waits for one more answer than there were.
async function answered(page, before) {
  const isThere = (before) => performance.getEntriesByName("answered").length > before;
  await page.waitForFunction(isThere, before);
}

async function doing(page, action) {
  const before = await count(page, "answered");
  await action();
  await answered(page, before);
}

const cell = async (page, place, row, column) =>
  (await page.locator(`${place} table`).first().locator("tbody tr").nth(row).locator("th, td").nth(column).innerText()).trim();

function byCommand(...settings) {
  const sets = settings.flatMap((setting) => ["--set", setting]);
  const answer = execFileSync(command, ["solve", "--preset", "router16", ...sets, "--format", "json"]);
  return JSON.parse(answer).classes.map((one) => one.network_latency_cycles.toFixed(2));
}

const rate = (page) => page.locator('input[type="range"][data-key="class.R1.rate"]');

test("opens with an answer, which is the command's", async (t) => {
  const page = await open(t);
  assert.equal(await cell(page, "#tables", 0, 1), byCommand()[0]);
  assert.equal(await page.locator("#curve svg").count(), 1);
  assert.ok(await page.locator("#parts svg").count() >= 3);
  assert.match(await page.locator("#commands").innerText(), /^flitwise solve --preset router16\n/);
  const opened = await page.evaluate(() => performance.getEntriesByName("first answer")[0].duration);
  t.diagnostic(`first answer after ${opened.toFixed(0)} ms`);
});

test("a slider that is moved moves the numbers, the text and the link", async (t) => {
  const page = await open(t);
  await rate(page).focus();
  for (const key of ["ArrowRight", "ArrowRight", "PageUp"]) await doing(page, () => page.keyboard.press(key));
  const text = await page.locator("#text").inputValue();
  const value = text.match(/^rate = ([0-9.e-]+)/m)[1];
  assert.ok(Number(value) > 0.005, value);
  assert.ok(text.includes("# messages/cycle/node; "), "comments stay");
  const wanted = byCommand(`class.R1.rate=${value}`);
  for (const row of [0, 1, 2]) assert.equal(await cell(page, "#tables", row, 1), wanted[row]);
  assert.ok(page.url().includes(`set=class.R1.rate%3D${value}`), page.url());

  const other = await open(t, { hash: new URL(page.url()).hash });
  assert.equal(await other.locator("#text").inputValue(), text);
  assert.equal(await cell(other, "#tables", 0, 1), wanted[0]);
});

test("a text that is edited moves the sliders, and what is broken is said at its line", async (t) => {
  const page = await open(t);
  const area = page.locator("#text");
  const text = await area.inputValue();
  await doing(page, () => area.fill(text.replace("rate = 0.005", "rate = 0.006")));
  assert.equal(await rate(page).inputValue(), "0.006");
  assert.equal(await cell(page, "#tables", 0, 1), byCommand("class.R1.rate=0.006")[0]);

  await doing(page, () => area.fill(text.replace("ports = 16", "ports = 1")));
  const line = text.split("\n").findIndex((one) => one.startsWith("ports")) + 1;
  assert.equal(await page.locator("#lines .wrong").innerText(), `! ${line}`);
  const fault = page.locator("#faults button");
  assert.match(await fault.innerText(), new RegExp(`^scenario.toml:${line}:9: network.ports: found 1, wanted`));
  await fault.click();
  const selected = await area.evaluate((one) => one.value.slice(one.selectionStart, one.selectionEnd));
  assert.ok(selected.startsWith("ports = 1"), selected);
  await look(page, "broken");

  await doing(page, () => area.fill("[network\nports = = 1"));
  assert.ok(await page.locator("#lines .wrong").count() >= 1);
  await doing(page, () => area.fill(text));
  assert.equal(await page.locator("#faults li").count(), 0);
  assert.equal(await cell(page, "#tables", 0, 1), byCommand()[0]);
});

test("a simulation shows its intervals and can be stopped half way", async (t) => {
  const page = await open(t);
  await page.locator("#precision").selectOption("0.005");
  const before = await page.locator("#curve svg").innerHTML();
  await page.locator("#here").click();
  await page.locator("#simulated-tables table").first().waitFor();
  assert.match(await cell(page, "#simulated-tables", 0, 1), /^[0-9.]+ ±[0-9.]+$/);
  await page.waitForFunction((before) => document.querySelector("#curve svg").innerHTML !== before, before);
  assert.match(await page.locator("#curve svg").innerHTML(), /simulation/);
  await page.locator("#stop").click();
  await page.waitForFunction(() => document.querySelector("#simulated").textContent.startsWith("Stopped"));
  assert.ok(await page.locator("#progress").evaluate((one) => one.value > 0));
  assert.ok(await page.locator("#stop").isDisabled() && await page.locator("#here").isEnabled());

  await page.locator("#precision").selectOption("0.05");
  await page.locator("#along").click();
  await page.waitForFunction(() => document.querySelector("#simulated").textContent.startsWith("Done: point 5 of 5"));
  await look(page, "simulated");
});

test("the page answers while it simulates", async (t) => {
  const page = await open(t);
  await doing(page, () => page.locator("#precision").selectOption("0.005"));
  await page.locator("#here").click();
  await page.waitForFunction(() => document.querySelector("#simulated").textContent !== "");
  await rate(page).focus();
  await doing(page, () => page.keyboard.press("ArrowRight"));
  const text = await page.locator("#text").inputValue();
  const value = text.match(/^rate = ([0-9.e-]+)/m)[1];
  assert.equal(await cell(page, "#tables", 0, 1), byCommand(`class.R1.rate=${value}`)[0]);
  assert.ok(await page.locator("#stop").isEnabled());
  await page.locator("#stop").click();
});

test("every kind of system is answered or refused in words", async (t) => {
  const page = await open(t);
  for (const name of ["cube5", "mesh4x4", "mediaworm-quick", "router-nic-quick", "congestion-quick", "recn64-quick"]) {
    await doing(page, () => page.locator("#preset").selectOption(name));
    await page.waitForFunction((name) => document.querySelector("#commands").textContent.includes(name), name);
    const tables = await page.locator("#tables table").count();
    const status = await page.locator("#status").innerText();
    assert.ok(tables > 0 || status.length > 20, `${name}: ${status}`);
  }
  await page.locator("#distribution summary").click();
  await doing(page, () => page.locator("#preset").selectOption("router16"));
  await page.locator("#tail svg").waitFor();
});

test("a scenario has pictures of its own, which step and play", async (t) => {
  const page = await open(t);
  await page.locator("#more summary").click();
  const drawn = page.locator("#drawn svg");
  await drawn.waitFor();
  const titles = await page.locator("#figure option").allInnerTexts();
  assert.ok(titles.some((title) => title.startsWith("Markov chain")), titles.join());
  for (const title of titles) {
    const before = await drawn.first().innerHTML();
    await page.locator("#figure").selectOption(title);
    if (title !== titles[0]) {
      await page.waitForFunction((before) => document.querySelector("#drawn svg")?.innerHTML !== before, before);
    }
    assert.equal(await page.locator("#drawn .refusal").count(), 0, title);
    await look(page, `drawn-${title.split(" ")[0].toLowerCase()}`);
  }
  const pipeline = titles.find((title) => title.startsWith("Pipeline"));
  await page.locator("#figure").selectOption(pipeline);
  await page.locator('#drawn button:text-is("Step")').waitFor();
  const first = await drawn.innerHTML();
  await page.locator('#drawn button:text-is("Step")').click();
  assert.notEqual(await drawn.innerHTML(), first);
  assert.ok(page.url().includes("figure=Pipeline"), page.url());
  const other = await open(t, { hash: new URL(page.url()).hash });
  await other.locator("#drawn svg").waitFor();
  assert.equal(await other.locator("#figure").inputValue(), pipeline);
  for (const name of ["mesh4x4", "recn64-quick", "mediaworm-quick"]) {
    await doing(page, () => page.locator("#preset").selectOption(name));
    await page.waitForFunction(() => !document.querySelector("#drawn .refusal"));
  }
});

test("an engine that stops is started again, with a message", { skip: isServed }, async (t) => {
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const worker = await readFile(join(folder, "worker.js"), "utf8");
  const failing = `if (data.request?.includes("cube5")) throw new Error("a test of it");`;
  const body = worker.replace("try {", `try { ${failing}`);
  await page.route("**/worker.js", (route) => route.fulfill({ body, contentType: "text/javascript" }));
  await page.goto(origin);
  await answered(page, 0);
  await page.locator("#preset").selectOption("cube5");
  await page.waitForFunction(() => document.querySelector("#broken").textContent.includes("a test of it"));
  await doing(page, () => page.locator("#preset").selectOption("cube6"));
  await page.waitForFunction(() => document.querySelector("#title").textContent.includes("6-cube"));
});

// What it looks like.
async function look(page, name) {
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}

for (const colorScheme of ["light", "dark"]) {
  test(`the page is accessible, ${colorScheme}, at three widths`, async (t) => {
    for (const width of [360, 1024, 1920]) {
      const page = await open(t, { colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
      await page.screenshot({ path: join(pictures, `${colorScheme}-${width}.png`), fullPage: true });
      const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.ok(!isWide, `${width}: the page scrolls sideways`);
      await page.locator("#distribution summary").click();
      await page.locator("#text").fill("[network]\nports = 1\n");
      await page.locator("#faults li").first().waitFor();
      await page.addScriptTag({ path: axe });
      const { violations } = await page.evaluate(() => axe.run());
      const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
      assert.deepEqual(found, [], `${width}`);
    }
  });
}

test("how long a slider's move takes", async (t) => {
  for (const models of ["published", "refined"]) {
    const page = await open(t, { hash: `#preset=router16&models=${models}` });
    await rate(page).focus();
    const before = await count(page, "answered");
    for (let move = 0; move < 10; move += 1) await doing(page, () => page.keyboard.press("ArrowRight"));
    const took = await page.evaluate((before) =>
      performance.getEntriesByName("answered").slice(before).map(({ duration }) => duration), before);
    took.sort((a, b) => a - b);
    t.diagnostic(`${models}: a move to a new curve of 30 points, median ${took[took.length >> 1].toFixed(0)} ms`);
  }
});
