// Every lesson in a real Chromium: static files, or `flitwise serve` if FLITWISE_SERVED is "yes".

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { chromium } from "playwright-core";

import { fileServer, serve, watch } from "./serve.mjs";

const { FLITWISE_PAGE: folder, FLITWISE_PICTURES: pictures } = process.env;
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const PATIENCE = 60_000;

let server;
let browser;

before(async () => {
  server = process.env.FLITWISE_SERVED === "yes" ? await serve() : await fileServer(folder);
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
});

after(async () => {
  await browser?.close();
  await server?.end();
});

// Opens a page; whatever it does, it writes no error and asks nobody but its own server.
async function open(t, name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  watch(t, context, page, server.origin);
  await page.goto(`${server.origin}/${name}`);
  return page;
}

const names = await (async () => {
  const found = process.env.FLITWISE_SERVED === "yes" ? await serve() : await fileServer(folder);
  const text = await (await fetch(`${found.origin}/lessons.html`)).text();
  await found.end();
  return [...text.matchAll(/<li><a href="([a-z-]+)\.html">/g)].map(([, name]) => name);
})();

test("there are lessons", () => assert.ok(names.length >= 15));

for (const name of names) {
  test(`${name}: predicted, moved, and all its numbers there`, async (t) => {
    const page = await open(t, `${name}.html`);
    await page.locator("#predict button").first().waitFor();
    assert.ok(await page.locator("#rest").isHidden());
    const choices = page.locator('#predict input[type="radio"]');
    if (await choices.count() > 0) await choices.first().check();
    else await page.locator("#number").fill("1");
    await page.locator("#predict button").first().click();
    // every screen has an answer
    await page.waitForFunction(() => [...document.querySelectorAll(".shown")].every((one) => one.childElementCount > 0));
    assert.equal(await page.locator(".shown .refusal").count(), 0, await page.locator("#screens").innerText());
    const before = await page.evaluate(() => performance.getEntriesByName("answered").length);
    const knob = page.locator('.screen > .field input[type="range"]').first();
    if (await knob.count() > 0) {
      await knob.focus();
      const there = await knob.inputValue();
      const [back, on] = there === await knob.getAttribute("min") ? ["ArrowRight", "ArrowLeft"] : ["ArrowLeft", "ArrowRight"];
      await page.keyboard.press(back);
      await page.waitForFunction((before) => performance.getEntriesByName("answered").length > before, before);
      const turned = await knob.inputValue();
      assert.notEqual(turned, there);
      assert.match(page.url(), new RegExp(`#answer&\\d=${turned}$`));
      await page.keyboard.press(on);
    }
    const step = page.locator('.screen figure button:text-is("Step")').first();
    if (await step.count() > 0) {
      const moment = page.locator(".screen figure .moment").first();
      const first = await moment.innerHTML();
      await step.click();
      await step.click();
      assert.notEqual(await moment.innerHTML(), first);
    }
    // simulations of the text take a while
    await page.waitForFunction(() => [...document.querySelectorAll("data")].every((one) => one.textContent !== "…"));
    await page.waitForFunction(() => /\d|:/.test(document.querySelector("#predicted").textContent));
    await page.waitForFunction(() => !document.querySelector("#try").textContent.includes("Simulating"));
    assert.equal(await page.locator(".refusal").count(), 0);
    await page.screenshot({ path: join(pictures, `lesson-${name}.png`), fullPage: true });
  });
}

for (const colorScheme of ["light", "dark"]) {
  test(`lessons are accessible, ${colorScheme}, on a narrow screen`, async (t) => {
    for (const name of ["virtual-clock", "hypercube", "best-effort"]) {
      const page = await open(t, `${name}.html#answer`, { colorScheme, viewport: { width: 360, height: 800 }, bypassCSP: true });
      await page.waitForFunction(() => {
        const shown = [...document.querySelectorAll(".shown")];
        return shown.length > 0 && shown.every((one) => one.childElementCount > 0);
      });
      const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.ok(!isWide, `${name}: the page scrolls sideways`);
      await page.addScriptTag({ path: axe });
      const { violations } = await page.evaluate(() => axe.run());
      const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
      assert.deepEqual(found, [], name);
    }
  });
}
