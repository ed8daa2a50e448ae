// A lesson: its commands are asked of the engine, and the numbers in its text are found in their answers. Nothing but
// sums of such numbers is computed here.

import { Engine } from "./engine.js";
import { dark, element, moveByKey, paragraph, picture, player, showTables, style } from "./parts.js";

const $ = (id) => document.getElementById(id);
const STEP_MILLISECONDS = 50;
const POINTS_SIMULATED = 5;
const AGAIN_MILLISECONDS = 1000;
const MOST_TRIES = 20;
const engine = new Engine();
const ask = (request) => engine.ask(request);
const lesson = JSON.parse($("lesson").textContent);
const answers = []; // by command: its answers
const known = new Map(); // by request: its answer, to come or there

// ------------------------------------------------------------------------------------------------- asking the engine

// One simulation at a time; the next one waits.
let last = Promise.resolve();

// Simulates to the end; `show` takes what there is in between, and `own.isStopped` ends it. A server that simulates for
// others, such as a page that was just left, is asked again.
function simulate(request, show, own = {}) {
  const work = async () => {
    let found = await ask(request);
    for (let tries = 0; found.isBusy && tries < MOST_TRIES; tries += 1) {
      await new Promise((over) => { setTimeout(over, AGAIN_MILLISECONDS); });
      found = await ask(request);
    }
    while (!found.fault && !found.ended) {
      found = await ask(own.isStopped ? { ask: "simulate_stop" } : { ask: "simulate_step", milliseconds: STEP_MILLISECONDS });
      if (!found.fault) show(found);
    }
    return found;
  };
  last = last.then(work, work);
  return last;
}

// The answer to a request, asked once however often it is wanted.
function answerTo(request, place) {
  const key = JSON.stringify(request);
  if (!known.has(key)) {
    const drawn = { ...request, style: style(place) };
    known.set(key, request.ask === "simulate_start"
      ? simulate(request, (found) => { place.textContent = progress(found); })
      : ask(request.ask === "solve" ? request : drawn));
  }
  return known.get(key);
}

function progress({ warming_up: isWarmingUp, messages, precision }) {
  const within = precision === null ? "" : `, within ${(100 * precision).toPrecision(2)} %`;
  return isWarmingUp ? "Simulating: warming up" : `Simulating: ${messages.toLocaleString("en")} messages${within}`;
}

// Tables that the lesson speaks of, and the others behind a click.
function showAnswer(place, answer, titles) {
  if (answer.fault) return place.replaceChildren(paragraph(answer.fault, "refusal"));
  const tables = [...(answer.tables ?? []), ...(answer.csv && answer.svg ? [pointsOf(answer.csv)] : [])];
  const isMeant = ({ title }) => titles.some((one) => title.startsWith(one) || one.startsWith(title.split(",")[0]));
  const isFirst = titles.some((one) => /(model|simulated|simulation)$/.test(one));
  const meant = tables.filter((table, at) => isMeant(table) || (isFirst && at === 0));
  const shown = meant.length > 0 || answer.svg ? meant : tables.slice(0, 1);
  const box = element("div");
  showTables(box, shown);
  place.replaceChildren(...(answer.svg ? [element("figure", {}, picture(answer.svg))] : []), box);
  const others = tables.filter((table) => !shown.includes(table));
  if (others.length > 0) {
    const more = element("div");
    showTables(more, others);
    place.append(element("details", {}, element("summary", { textContent: "All tables" }), more));
  }
  place.append(...(answer.notes ?? []).map((note) => paragraph(note)));
}

// Asks a command, and shows its answer at the places of the text.
async function answered(at) {
  const { asks, titles } = lesson.commands[at];
  const place = document.querySelector(`[data-command="${at}"]`) ?? element("div");
  if (asks.length === 0) {
    place.replaceChildren(paragraph("For a terminal."));
    answers[at] = [];
    return;
  }
  place.textContent = asks.some((one) => one.ask === "simulate_start") ? "Waiting for a simulation." : "Solving.";
  answers[at] = [];
  for (const request of asks) answers[at].push(await answerTo(request, place));
  place.replaceChildren(...answers[at].map((answer) => {
    const one = element("div");
    showAnswer(one, answer, titles);
    return one;
  }));
}

// --------------------------------------------------------------------------------------------------- numbers in texts

const words = (head) => head.replaceAll(/[_-]/g, " ");

function ofCsv(csv) {
  const [heads, ...rows] = csv.trim().split("\n").map((line) => line.split(","));
  return { columns: heads.map((head) => ({ head })), rows };
}

// The points of a curve as a table, with as many digits as can be read.
function pointsOf(csv) {
  const { columns, rows } = ofCsv(csv);
  const short = (cell) => (cell === "" || Number.isNaN(Number(cell)) ? cell : String(Number(Number(cell).toPrecision(5))));
  const isTold = columns.map((_, at) => rows.some((row) => row[at] !== ""));
  const told = (list) => list.filter((_, at) => isTold[at]);
  return { title: "Points of the curves", columns: told(columns).map(({ head }) => ({ head: words(head), unit: "" })),
    rows: rows.map((row) => told(row).map(short)) };
}

// The number of a table that is meant, or nothing.
function inTable({ columns, rows }, { quantity, row, is_half_width: isHalfWidth }) {
  const wanted = words(quantity);
  const at = columns.map(({ head }) => words(head)).findIndex((head) => head === wanted || head.startsWith(`${wanted} `));
  const found = at < 0 ? undefined : rows.find((cells) => row.every((cell) => cells.includes(cell)));
  const [mean, halfWidth] = (found?.[at] ?? "").replaceAll(",", "").split("±");
  return Number.parseFloat(isHalfWidth ? halfWidth : mean);
}

function inAnswer(answer, meant) {
  if (meant.quantity.startsWith("document.")) {
    return meant.quantity.split(".").reduce((value, key) => value?.[key], answer) ?? NaN;
  }
  const tables = [...(answer.tables ?? []), ...(answer.csv && answer.svg ? [ofCsv(answer.csv)] : [])];
  return tables.map((table) => inTable(table, meant)).find((value) => !Number.isNaN(value)) ?? NaN;
}

const SIGNS = { "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b };

// A chain from left to right; not a number while an answer is missing.
function valueOf({ terms }, of = answers) {
  return terms.reduce((sum, [sign, operand]) => {
    const next = typeof operand === "number"
      ? operand
      : (of[operand.command - 1] ?? []).map((answer) => inAnswer(answer, operand)).find((value) => !Number.isNaN(value)) ?? NaN;
    return SIGNS[sign](sum, next);
  }, 0);
}

function writeNumbers() {
  document.querySelectorAll("data[data-formula]").forEach((place) => {
    const value = valueOf(lesson.formulas[place.dataset.formula]);
    if (Number.isNaN(value)) return;
    place.value = value;
    place.textContent = Number(value.toFixed(place.dataset.digits)).toLocaleString("en", {
      minimumFractionDigits: place.dataset.digits, maximumFractionDigits: place.dataset.digits,
    });
  });
}

// --------------------------------------------------------------------------------------------------------- prediction

let predicted = null; // what was marked, until the answer is there

function showPrediction() {
  const { ask: question, choices, unit, from, to } = lesson.prediction;
  const legend = element("legend", { textContent: question });
  const box = element("fieldset", {}, legend);
  if (choices.length > 0) {
    box.append(...choices.map(({ text }, at) => {
      const input = element("input", { type: "radio", name: "choice", value: at, required: true });
      return element("label", { className: "choice" }, input, ` ${text}`);
    }));
  } else {
    const middle = (from + to) / 2;
    const range = element("input", { type: "range", id: "mark", min: from, max: to, step: "any", value: middle });
    range.dataset.step = (to - from) / 100;
    const number = element("input", { type: "number", id: "number", step: "any", value: middle, required: true });
    range.setAttribute("aria-label", `${question} Mark a point.`);
    number.setAttribute("aria-label", `${question} A number.`);
    range.addEventListener("input", () => { number.value = Number(Number(range.value).toPrecision(3)); });
    range.addEventListener("keydown", (event) => moveByKey(event, range));
    number.addEventListener("input", () => { range.value = number.value; });
    box.append(element("div", { className: "bar" }, range, number, element("span", { textContent: unit })));
  }
  const skip = element("button", { type: "button", textContent: "Show without a prediction", className: "quiet" });
  skip.addEventListener("click", () => reveal(null));
  $("predict").append(box, element("div", { className: "bar" }, element("button", { textContent: "This is my prediction" }), skip));
  $("predict").addEventListener("submit", (event) => {
    event.preventDefault();
    const data = new FormData($("predict"));
    reveal(choices.length > 0 ? Number(data.get("choice")) : Number($("number").value));
  });
}

function judge() {
  if (predicted === null) return;
  const { value, choices, unit } = lesson.prediction;
  const right = valueOf(value);
  if (Number.isNaN(right)) {
    $("predicted").textContent = "The answer is being computed.";
    return;
  }
  const shown = Number(right.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 });
  if (choices.length > 0) {
    const place = choices.findIndex(({ below }) => below === null || right < below);
    const verdict = predicted.mark === place ? "Right" : "No";
    $("predicted").textContent = predicted.mark === null
      ? `It is: ${choices[place].text} (${shown}${unit ? ` ${unit}` : ""}).`
      : `${verdict}: ${choices[place].text} (${shown}${unit ? ` ${unit}` : ""}).`;
  } else {
    const own = predicted.mark === null ? "" : `You said ${predicted.mark} ${unit}. `;
    $("predicted").textContent = `${own}It is ${shown} ${unit}.`;
  }
}

async function reveal(mark) {
  const isFirst = predicted === null;
  predicted = { mark };
  judge();
  if (!isFirst) return;
  $("rest").hidden = false;
  writeLink();
  lesson.screens.forEach(showScreen);
  for (let at = 0; at < lesson.commands.length; at += 1) {
    if (!answers[at]) await answered(at);
    writeNumbers();
    judge();
  }
}

// ------------------------------------------------------------------------------------------------------------ screens

const turns = new Map(); // by screen: where its knob was turned to

// A link opens the answer, with all knobs where they are.
function writeLink() {
  const knobs = [...turns].map(([at, number]) => `&${at}=${number}`).join("");
  history.replaceState(null, "", `#answer${knobs}`);
}

function readLink() {
  const [word, ...knobs] = location.hash.slice(1).split("&");
  for (const [at, number] of knobs.map((one) => one.split("=").map(Number))) {
    if (Number.isFinite(at) && Number.isFinite(number)) turns.set(at, number);
  }
  return word === "answer";
}

// What a knob sets at a number.
function settings(knob, number) {
  if (!knob) return [];
  const put = (text) => text.replaceAll(/\{(?:([\d.]+)\/)?(?:\/([\d.]+))?\}/g, (_, of, by) =>
    String(of ? of / number : number / (by ?? 1)));
  return [`${knob.key}=${put(knob.written)}`, ...knob.with.map(put)];
}

async function withSettings(text, all) {
  let made = text;
  for (const setting of all) {
    const [key, ...value] = setting.split("=");
    const next = await ask({ ask: "set", text: made, key, value: value.join("=") });
    if (next.fault) return next;
    made = next.text;
  }
  return { text: made };
}

// A screen: a knob, and for each of its scenarios what is asked of it.
function showScreen(screen, at) {
  const { knob } = screen;
  const sides = screen.sides.length > 0 ? screen.sides : [{ label: "", set: [] }];
  const places = sides.map(({ label }) => element("div", { className: "side" }, ...(label ? [element("h4", { textContent: label })] : []),
    element("div", { className: "shown" }), element("div", { className: "simulated" })));
  const said = element("p", { className: "says" });
  said.setAttribute("role", "status");
  const about = element("div");
  about.innerHTML = screen.about; // written by the program that built the page
  const id = `knob-${at}`;
  const range = knob && element("input", { type: "range", id, min: knob.from, max: knob.to, step: knob.step, value: turns.get(at) ?? knob.at });
  const number = element("output", { htmlFor: id });
  const box = element("section", { className: "screen" }, element("h3", { textContent: screen.title }), about);
  if (knob) {
    box.append(element("div", { className: "field" },
      element("label", { htmlFor: id }, knob.label, " ", element("small", { textContent: knob.unit })), range, number));
  }
  box.append(said, element("div", { className: "sides" }, ...places));
  const state = { screen, sides, places, said, points: sides.map(() => []), texts: [] };
  const set = () => (knob && !screen.stations ? settings(knob, Number(range.value)) : []);
  if (screen.simulate !== null) box.append(buttons(state, set));
  $("screens").append(box);
  let isShowing = false;
  let isStale = false;
  const show = async () => {
    if (knob) {
      number.textContent = range.value;
      range.setAttribute("aria-valuetext", `${range.value} ${knob.unit}`);
    }
    isStale = true;
    if (isShowing) return;
    isShowing = true;
    while (isStale) {
      isStale = false;
      performance.mark("asked");
      state.number = knob ? Number(range.value) : 0;
      await showSides(state, set());
      performance.measure("answered", "asked");
    }
    isShowing = false;
  };
  range?.addEventListener("input", () => {
    turns.set(at, Number(range.value));
    writeLink();
    state.points = sides.map(() => []);
    show();
  });
  dark.addEventListener("change", show);
  show();
}

async function showSides(state, set) {
  const { screen, sides, places, said } = state;
  const spoken = [];
  for (const [at, { set: own }] of sides.entries()) {
    const found = await withSettings(screen.text, [...own, ...set]);
    if (found.fault) {
      places[at].querySelector(".shown").replaceChildren(paragraph(found.fault, "refusal"));
      continue;
    }
    state.texts[at] = found.text;
    const { label } = sides[at];
    spoken.push(...(await showSide(state, at)).map((text) => (label ? `${label}: ${text}` : text)));
  }
  said.textContent = spoken.join(" ");
}

// Asks all that a screen shows of a scenario; what its sentences say.
async function showSide(state, at) {
  const { screen, places } = state;
  const place = places[at].querySelector(".shown");
  const text = state.texts[at];
  const parts = [];
  const spoken = [];
  const told = (answer, ...shown) => parts.push(...(answer.fault ? [paragraph(answer.fault, "refusal")] : shown));
  const drawn = style(place);
  if (screen.stations) {
    const answer = await ask({ ...turned(screen, state.number), style: drawn });
    told(answer, element("figure", {}, ...(answer.svg ? [picture(answer.svg)] : [])));
  }
  if (screen.over) {
    const request = { ask: "curve", text, over: screen.over, couple: screen.couple, models: screen.models, style: drawn };
    const answer = await ask({ ...request, simulated: state.points[at] });
    state.curve = answer;
    told(answer, element("figure", {}, ...(answer.svg ? [picture(answer.svg)] : [])));
  }
  if (screen.solve || screen.says.length > 0) {
    const answer = await ask({ ask: "solve", text, model: screen.models[0] ?? null, expected_errors: false, style: { ...drawn, width: 300 } });
    if (screen.solve) {
      const tables = element("div");
      showAnswer(tables, answer, screen.titles);
      told(answer, element("div", { className: "bars" }, ...(answer.parts ?? []).map(picture)), tables);
    }
    if (!answer.fault) spoken.push(...says(screen, answer));
  }
  if (screen.distribution) {
    const answer = await ask({ ask: "distribution", text, model: screen.models[0] ?? null, style: drawn });
    told(answer, element("figure", {}, ...(answer.svg ? [picture(answer.svg)] : [])));
  }
  if (screen.figure) {
    const answer = await ask({ ask: "figure", figure: screen.figure, text, style: drawn });
    told(answer, ...(answer.svgs ? [player(answer.svgs, screen.title)] : []));
  }
  place.replaceChildren(...parts);
  return spoken;
}

// Stations with the knob's number in place of theirs.
function turned({ stations, knob }, number) {
  const turn = (one) => (knob && knob.key in one.numbers ? { ...one, numbers: { ...one.numbers, [knob.key]: number } } : one);
  return { ...stations, stations: stations.stations.map(turn) };
}

// Sentences for the state that an answer is in. Past saturation its means have no meaning.
function says({ says: all }, answer) {
  const saturated = (answer.document?.classes ?? []).filter((one) => one.saturated).map(({ name }) => name);
  const warning = saturated.length > 0
    ? [`Past saturation: waits of ${saturated.join(" and ")} grow without end, so that their means have no meaning.`]
    : [];
  const holds = ({ of, above, below }) => {
    const value = inAnswer(answer, of);
    return value >= (above ?? -Infinity) && value < (below ?? Infinity);
  };
  return [...warning, ...all.filter(holds).map(({ text }) => text)];
}

// Simulates the scenarios of a screen, along its curve if it has one; the same seed for all.
function buttons(state, set) {
  const { screen, places } = state;
  const start = element("button", { type: "button", textContent: screen.over ? `Simulate ${POINTS_SIMULATED} points` : "Simulate, flit by flit" });
  const stop = element("button", { type: "button", textContent: "Stop", disabled: true });
  const status = element("span", { className: "muted" });
  status.setAttribute("role", "status");
  let own = null;
  stop.addEventListener("click", () => { own.isStopped = true; });
  start.addEventListener("click", async () => {
    own = { isStopped: false };
    start.disabled = true;
    stop.disabled = false;
    const run = { seed: 1, precision: screen.simulate, replications: screen.replications };
    for (const [at, text] of state.texts.entries()) {
      const all = screen.over ? state.curve?.points ?? [] : [[]];
      const count = Math.min(screen.over ? POINTS_SIMULATED : 1, all.length);
      for (let nth = 0; nth < count && !own.isStopped; nth += 1) {
        const point = all[Math.floor((nth + 0.5) * all.length / count)];
        const place = places[at].querySelector(".simulated");
        const found = await simulate({ ask: "simulate_start", text, set: point, run }, (one) => { status.textContent = progress(one); }, own);
        if (found.fault) place.replaceChildren(paragraph(found.fault, "refusal"));
        else if (!screen.over) showAnswer(place, found, screen.titles);
        else if (text === state.texts[at]) {
          state.points[at].push({ x: Number(point[0].value), latencies: found.latencies });
          await showSides(state, set());
        }
      }
    }
    status.textContent = own.isStopped ? "Stopped." : "Done.";
    start.disabled = false;
    stop.disabled = true;
  });
  return element("div", { className: "bar" }, start, stop, status);
}

// -------------------------------------------------------------------------------------------------------------- start

async function begin() {
  try {
    await engine.load((why) => { $("broken").textContent = why; });
  } catch (error) {
    $("broken").textContent = `The engine cannot be loaded: ${error.message}`;
    return;
  }
  $("version").textContent = `All numbers are computed when the page is opened. ${engine.sentence}`;
  showPrediction();
  const shown = Array.from({ length: lesson.shown }, (_, at) => at);
  const isBefore = (at) => !$("answer").contains(document.querySelector(`[data-command="${at}"]`));
  if (readLink()) reveal(null);
  for (const at of shown.filter(isBefore)) {
    if (!answers[at]) await answered(at);
    writeNumbers();
  }
  judge();
  performance.measure("first answer");
}

begin();
