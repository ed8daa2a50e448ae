// The page: what is asked, and where the answers are shown. All numbers, pictures and texts of answers come from the
// engine; nothing is computed here.

import { Engine } from "./engine.js";
import { dark, element, moveByKey, paragraph, picture, player, showTables, style } from "./parts.js";

const $ = (id) => document.getElementById(id);
const STEP_MILLISECONDS = 50;
const POINTS = 30;
const POINTS_SIMULATED = 5;

const engine = new Engine();

// -------------------------------------------------------------------------------------------------------- the state

// What a link holds: preset or text, models, axis, how to simulate.
const state = { preset: "router16", text: "", models: null, axis: null, from: null, to: null, couple: true, figure: null };
let form = null; // the engine's answer about the last sound text
let spans = new Map(); // by key: where its slider goes; it stays while a scenario is worked on
let drawn = null; // the last curve
let solved = []; // the last answers
let commands = null;
let points = []; // what was simulated along the curve

const run = () => ({ seed: Number($("seed").value), precision: Number($("precision").value) });

function axis() {
  const axes = form?.axes ?? [];
  return axes.find(({ key }) => key === state.axis) ?? axes[0] ?? null;
}

// Where it begins and ends: as chosen, or as the engine proposes.
function ends(along) {
  const [from, to] = along.over.slice(along.key.length + 1).split(":");
  return [state.from ?? from, state.to ?? to];
}

// The axis as the command takes it.
function over() {
  const along = axis();
  if (!along) return null;
  const [from, to] = ends(along);
  const isWhole = form.fields.find(({ key }) => key === along.key)?.step === 1;
  const count = isWhole ? Math.max(1, Math.min(POINTS, Math.round(to - from) + 1)) : POINTS;
  return { over: `${along.key}=${from}:${to}:${count}`, couple: state.couple ? along.couple : [] };
}

function models() {
  const all = (form?.models ?? []).map(({ name }) => name);
  const chosen = all.filter((name) => state.models === null || state.models.includes(name));
  return chosen.length > 0 ? chosen : all.slice(0, 1);
}

function link() {
  const part = new URLSearchParams();
  if (state.preset) part.append("preset", state.preset);
  if (commands?.needs_file ?? true) part.append("text", state.text);
  else commands.settings.forEach(({ key, value }) => part.append("set", `${key}=${value}`));
  if (state.models) part.append("models", state.models.join(","));
  for (const key of ["axis", "from", "to"]) if (state[key] !== null) part.append(key, state[key]);
  if (!state.couple) part.append("couple", "no");
  if ($("more").open) part.append("figure", $("figure").value);
  if ($("distribution").open) part.append("distribution", "yes");
  if ($("seed").value !== "1") part.append("seed", $("seed").value);
  if ($("precision").value !== "0.02") part.append("precision", $("precision").value);
  return `#${part}`;
}

let written = null;
function writeLink() {
  written = link();
  if (location.hash !== written) history.replaceState(null, "", written);
}

async function readLink() {
  const part = new URLSearchParams(location.hash.slice(1));
  const preset = part.get("preset") ?? (part.has("text") ? "" : "router16");
  await choose(preset, part.get("text"), part.getAll("set"));
  state.models = part.get("models")?.split(",") ?? null;
  for (const key of ["axis", "from", "to"]) state[key] = part.get(key);
  state.couple = part.get("couple") !== "no";
  state.figure = part.get("figure");
  $("more").open = state.figure !== null;
  $("distribution").open = part.has("distribution");
  if (part.has("seed")) $("seed").value = part.get("seed");
  if (part.has("precision")) $("precision").value = part.get("precision");
  await update();
}

// Takes a preset or a text in place of what there is.
async function choose(preset, text, settings = []) {
  stopSimulation();
  const found = preset ? await engine.ask({ ask: "preset", name: preset }) : { text: text ?? "" };
  if (found.fault) return say(found.fault);
  Object.assign(state, { preset, text: text ?? found.text, models: null, axis: null, from: null, to: null, couple: true });
  for (const setting of settings) {
    const [key, ...value] = setting.split("=");
    const next = await engine.ask({ ask: "set", text: state.text, key, value: value.join("=") });
    if (next.fault) say(next.fault);
    else state.text = next.text;
  }
  form = null;
  spans = new Map();
  points = [];
  $("preset").value = preset;
  $("simulated-tables").replaceChildren();
  $("simulated").textContent = "";
}

const say = (text) => { $("status").textContent = text; };

// ------------------------------------------------------------------------------------------------------- the update

let isUpdating = false;
let isStale = false;

// Asks for all that follows from the state; a state that changes meanwhile is asked for next, what lies between is not.
async function update() {
  isStale = true;
  if (isUpdating) return;
  isUpdating = true;
  while (isStale) {
    isStale = false;
    performance.mark("asked");
    await updateOnce();
    performance.measure("answered", "asked");
  }
  isUpdating = false;
}

async function updateOnce() {
  const { text } = state;
  if ($("text").value !== text) $("text").value = text;
  const found = await engine.ask({ ask: "scenario", text });
  showFaults(found.faults ?? []);
  const isSound = !found.fault && found.faults.length === 0;
  $("results").classList.toggle("stale", !isSound);
  if (!isSound) {
    const faults = found.faults?.length === 1 ? "a fault" : "faults";
    say(found.fault ?? `The scenario has ${faults}; the answer below is that of the last sound one.`);
    return;
  }
  form = found;
  $("title").textContent = form.title;
  showForm();
  showAsked();
  await ask(text);
  if (isStale) return;
  if ($("distribution").open) await showTail();
  if ($("more").open) await showFigure();
  writeLink();
}

// Answers, curve and command lines of a sound text.
async function ask(text) {
  const [chosen, along] = [models(), over()];
  solved = [];
  const refused = [];
  for (const model of chosen) {
    const answer = await engine.ask({ ask: "solve", text, model, expected_errors: false, style: { ...style($("parts")), width: 300 } });
    if (answer.fault) refused.push(answer.fault);
    else solved.push(answer);
  }
  showSolved(refused);
  const lines = { ask: "commands", text, preset: state.preset || null, run: run(), ...along };
  const words = await engine.ask({ ...lines, model: chosen[0] && state.models ? chosen[0] : null });
  commands = words.fault ? null : words;
  showCommands();
  await drawCurve();
  if (solved.length === 0) say([form.refusal ?? "", ...refused].join("\n"));
  else say(solved.map(({ tables }) => spoken(tables[0])).join(" "));
}

// The first numbers of a table, for who hears them.
function spoken(table) {
  if (!table || table.columns.length < 2) return "";
  const [, first] = table.columns;
  return `${table.title}, ${first.head}: ${table.rows.map((row) => `${row[0]} ${row[1]}`).join(", ")} ${first.unit}.`;
}

async function drawCurve() {
  const along = over();
  const chosen = models();
  if (!along || chosen.length === 0) {
    drawn = null;
    const why = along ? "" : "The scenario has no plain number along which a curve could go.";
    return $("curve").replaceChildren(paragraph(why));
  }
  const request = { ask: "curve", text: state.text, models: chosen, style: style($("curve")), ...along };
  let answer = await engine.ask({ ...request, simulated: points });
  if (answer.fault) {
    drawn = null;
    return $("curve").replaceChildren(paragraph(answer.fault, "refusal"));
  }
  // points of another scenario are no points of this curve
  const key = JSON.stringify([answer.csv, answer.points]);
  if (points.length > 0 && drawn?.key !== key) {
    points = [];
    answer = await engine.ask(request);
  }
  drawn = { ...answer, key };
  $("curve").replaceChildren(picture(answer.svg));
}

async function showTail() {
  const model = form?.models.find((one) => models().includes(one.name) && one.has_distributions);
  if (!model) return $("tail").replaceChildren(paragraph("No model that is chosen has distributions."));
  const request = { ask: "distribution", text: state.text, model: model.name, style: style($("tail")) };
  const answer = await engine.ask(request);
  $("tail").replaceChildren(answer.fault ? paragraph(answer.fault, "refusal") : picture(answer.svg));
}

// One of the pictures that the scenario has; the same one again while it has that.
async function showFigure() {
  const { text } = state;
  const offered = await engine.ask({ ask: "figures", text });
  const figures = offered.figures ?? [];
  const titles = figures.map(({ title }) => title);
  if ($("figure").dataset.titles !== titles.join()) {
    $("figure").dataset.titles = titles.join();
    $("figure").replaceChildren(...titles.map((title) => element("option", { textContent: title })));
    if (titles.includes(state.figure)) $("figure").value = state.figure;
  }
  const chosen = figures[Math.max($("figure").selectedIndex, 0)];
  if (!chosen) return $("drawn").replaceChildren(paragraph("There is no such picture of this scenario."));
  const answer = await engine.ask({ ask: "figure", figure: chosen.figure, text, style: style($("drawn")) });
  $("drawn").replaceChildren(answer.fault ? paragraph(answer.fault, "refusal") : player(answer.svgs, chosen.title));
  $("drawn-notes").replaceChildren(...(answer.notes ?? []).map((note) => element("li", { textContent: note })));
}

// --------------------------------------------------------------------------------------------------------- the form

const tableOf = (key) => key.split(".").slice(0, -1).join(".") || "scenario";

function showForm() {
  const keys = form.fields.map(({ key, number }) => `${key} ${number === null}`).join();
  if ($("fields").dataset.keys !== keys) {
    $("fields").dataset.keys = keys;
    const groups = new Map();
    for (const field of form.fields) {
      const table = tableOf(field.key);
      if (!groups.has(table)) groups.set(table, element("fieldset", {}, element("legend", { textContent: table })));
      groups.get(table).append(field.number === null ? choice(field) : slider(field));
    }
    $("fields").replaceChildren(...groups.values());
  }
  for (const field of form.fields) {
    for (const input of $("fields").querySelectorAll(`[data-key="${CSS.escape(field.key)}"]`)) {
      if (input.type === "range") fit(input, field);
      const value = String(field.number ?? field.word);
      if (input !== document.activeElement || input.type !== "number") input.value = value;
      if (input.type === "range") input.setAttribute("aria-valuetext", `${value} ${field.unit}`);
    }
  }
}

// A slider's ends stay while it is moved, unless the value is beyond them.
function fit(input, field) {
  const kept = spans.get(field.key);
  if (!kept || field.number < kept.from || field.number > kept.to) spans.set(field.key, field);
  const { from, to, step } = spans.get(field.key);
  // any step, so that a value between two of them stays as it is
  Object.assign(input, { min: from, max: to, step: field.step === 1 ? 1 : "any" });
  input.dataset.step = step;
}

function slider(field) {
  const id = `field-${field.key}`;
  const name = field.key.split(".").at(-1);
  const label = element("label", { htmlFor: id, title: field.sentence }, name, " ");
  if (field.unit !== name) label.append(element("small", { textContent: field.unit }));
  const range = element("input", { type: "range", id });
  const number = element("input", { type: "number", step: "any" });
  number.setAttribute("aria-label", `${field.key} as a number`);
  range.setAttribute("aria-label", `${field.key}, ${field.unit}`);
  for (const input of [range, number]) {
    input.dataset.key = field.key;
    input.addEventListener("input", () => {
      if (input.value !== "" && Number.isFinite(Number(input.value))) change(field, input);
    });
  }
  range.addEventListener("keydown", (event) => moveByKey(event, range));
  return element("div", { className: "field" }, label, range, number);
}

function choice(field) {
  const id = `field-${field.key}`;
  const label = element("label", { htmlFor: id, title: field.sentence, textContent: field.key.split(".").at(-1) });
  const select = element("select", { id }, ...field.words.map((word) => element("option", { textContent: word })));
  select.setAttribute("aria-label", field.key);
  select.dataset.key = field.key;
  select.addEventListener("input", () => change(field, select));
  return element("div", { className: "field" }, label, select);
}

let latest = 0;
async function change(field, input) {
  const number = input.type === "range" ? String(Number(Number(input.value).toPrecision(4))) : input.value;
  const value = field.has_unit ? `"${number} ${field.unit}"` : number;
  const turn = ++latest;
  const answer = await engine.ask({ ask: "set", text: state.text, key: field.key, value });
  if (turn !== latest) return; // moved on meanwhile
  if (answer.fault) return say(answer.fault);
  state.text = answer.text;
  await update();
}

function showAsked() {
  const names = form.models.map(({ name }) => name).join();
  if ($("models").dataset.names !== names) {
    $("models").dataset.names = names;
    const boxes = form.models.map(({ name, about }) => {
      const box = element("input", { type: "checkbox", value: name });
      box.addEventListener("change", chooseModels);
      return element("label", { title: about }, box, ` ${name}`);
    });
    $("models").replaceChildren(element("legend", { textContent: "Models" }), ...boxes);
    if (boxes.length === 0) $("models").append(paragraph("none has all of this scenario"));
  }
  const chosen = models();
  $("models").querySelectorAll("input").forEach((box) => { box.checked = chosen.includes(box.value); });
  const keys = form.axes.map(({ key }) => key);
  if ($("axis").dataset.keys !== keys.join()) {
    $("axis").dataset.keys = keys.join();
    $("axis").replaceChildren(...keys.map((key) => element("option", { textContent: key })));
  }
  const along = axis();
  for (const id of ["axis", "from", "to"]) $(id).disabled = !along;
  $("couple").disabled = !along || along.couple.length === 0;
  $("couple").checked = state.couple;
  if (along) {
    // from here on it stays where it is, however the value moves
    const [from, to] = ends(along);
    Object.assign(state, { axis: along.key, from, to });
    $("axis").value = along.key;
    for (const id of ["from", "to"]) if ($(id) !== document.activeElement) $(id).value = state[id];
  }
  const cannot = form.not_simulated;
  if (!simulating) for (const id of ["here", "along"]) $(id).disabled = Boolean(cannot);
  if (cannot) $("simulated").textContent = cannot;
}

function chooseModels() {
  state.models = [...$("models").querySelectorAll("input:checked")].map(({ value }) => value);
  update();
}

// ---------------------------------------------------------------------------------------------------------- answers

function showSolved(refused) {
  showTables($("tables"), solved.flatMap(({ tables }) => tables));
  $("parts").replaceChildren(...(solved[0]?.parts ?? []).map(picture));
  const notes = [...refused, ...solved.flatMap(({ notes }) => notes)];
  $("notes").replaceChildren(...[...new Set(notes)].map((note) => element("li", { textContent: note })));
}

function showCommands() {
  if (!commands) return $("commands").replaceChildren();
  $("needs-file").hidden = !commands.needs_file;
  $("commands").textContent = [commands.solve, commands.sweep, commands.simulate].filter(Boolean).join("\n");
}

function showFaults(faults) {
  const wrong = new Set(faults.map(({ line }) => line));
  const count = state.text.split("\n").length;
  const lines = Array.from({ length: count }, (_, at) => at + 1);
  $("lines").replaceChildren(...lines.flatMap((line) => [
    wrong.has(line) ? element("span", { className: "wrong", textContent: `! ${line}` }) : String(line), "\n",
  ]));
  $("lines").scrollTop = $("text").scrollTop;
  $("text").setAttribute("aria-invalid", String(faults.length > 0));
  const items = faults.map(({ line, text }) => element("li", {}, line === null
    ? text
    : element("button", { type: "button", textContent: text, onclick: () => goTo(line) })));
  $("faults").replaceChildren(...(items.length > 0 ? [element("ul", {}, ...items)] : []));
}

function goTo(line) {
  const before = state.text.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  const end = state.text.indexOf("\n", before);
  $("text").focus();
  $("text").setSelectionRange(before, end < 0 ? state.text.length : end);
  const height = $("text").scrollHeight / state.text.split("\n").length;
  $("text").scrollTop = (line - 5) * height;
}

// ------------------------------------------------------------------------------------------------------- simulation

let simulating = null; // what is under way

function stopSimulation() {
  if (simulating) simulating.isStopped = true;
}

// One run, slice by slice; `show` takes every answer in between.
async function simulate(own, text, set, show) {
  let found = await engine.ask({ ask: "simulate_start", text, set, run: run() });
  while (!found.fault && !found.ended) {
    const next = own.isStopped ? { ask: "simulate_stop" } : { ask: "simulate_step", milliseconds: STEP_MILLISECONDS };
    found = await engine.ask(next);
    if (!found.fault) await show(found);
  }
  if (found.fault) $("simulated").textContent = found.fault;
  return found;
}

function showProgress(found, done, all) {
  $("progress").value = (done + found.share_done) / all;
  const precision = found.precision === null ? "" : `, within ${(100 * found.precision).toPrecision(2)} %`;
  const messages = found.warming_up ? "warming up" : `${found.messages.toLocaleString("en")} messages${precision}`;
  const which = all > 1 ? `point ${done + 1} of ${all}: ` : "";
  $("simulated").setAttribute("aria-live", "off");
  $("simulated").textContent = which + messages;
}

async function showPoint(x, found) {
  points = points.filter((point) => point.x !== x).concat({ x, latencies: found.latencies });
  await drawCurve();
}

// Simulates each of `asked`: what is set, and where on the axis it is; none: nowhere.
async function simulateAll(asked) {
  if (simulating || asked.length === 0) return;
  const own = { isStopped: false };
  simulating = own;
  for (const id of ["here", "along"]) $(id).disabled = true;
  $("stop").disabled = false;
  const { text } = state;
  let done = 0;
  let isRefused = false;
  for (const { set, x } of asked) {
    const found = await simulate(own, text, set, async (found) => {
      showProgress(found, done, asked.length);
      if (found.document === null) return;
      if (asked.length === 1) showTables($("simulated-tables"), found.tables);
      if (x !== null && text === state.text) await showPoint(x, found);
    });
    isRefused = Boolean(found.fault);
    if (isRefused || own.isStopped) break;
    done += 1;
  }
  simulating = null;
  $("stop").disabled = true;
  for (const id of ["here", "along"]) $(id).disabled = Boolean(form?.not_simulated);
  $("simulated").setAttribute("aria-live", "polite");
  const last = $("simulated").textContent;
  $("simulated").textContent = `${isRefused ? "Not done" : own.isStopped ? "Stopped" : "Done"}: ${last}`;
}

function simulateHere() {
  const along = axis();
  const x = form.fields.find(({ key }) => key === along?.key)?.number ?? null;
  simulateAll([{ set: [], x }]);
}

function simulateAlong() {
  const all = drawn?.points ?? [];
  const count = Math.min(POINTS_SIMULATED, all.length);
  const chosen = Array.from({ length: count }, (_, at) => all[Math.floor((at + 0.5) * all.length / count)]);
  simulateAll(chosen.map((set) => ({ set, x: Number(set[0].value) })));
}

// ---------------------------------------------------------------------------------------------------------- copying

const copied = {
  link: () => location.href,
  toml: () => state.text,
  svg: () => drawn?.svg,
  drawn: () => $("drawn").querySelector("svg")?.outerHTML,
  csv: () => drawn?.csv,
  table: () => solved.map(({ csv }, at) => (at === 0 ? csv : csv.slice(csv.indexOf("\n") + 1))).join(""),
  command: () => $("commands").textContent,
};

async function copy(what) {
  const text = copied[what]();
  if (!text) return say("There is nothing to copy.");
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // pages without a secure origin have no clipboard
    const area = element("textarea", { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say("Copied.");
}

// ------------------------------------------------------------------------------------------------------------ start

function listen() {
  let typing = 0;
  $("text").addEventListener("input", () => {
    state.text = $("text").value;
    clearTimeout(typing);
    typing = setTimeout(update, 120);
  });
  $("text").addEventListener("scroll", () => { $("lines").scrollTop = $("text").scrollTop; });
  $("preset").addEventListener("change", async () => {
    // what is there becomes a file of one's own
    if ($("preset").value === "") state.preset = "";
    else await choose($("preset").value, null);
    await update();
  });
  $("axis").addEventListener("change", () => {
    Object.assign(state, { axis: $("axis").value, from: null, to: null });
    points = [];
    update();
  });
  for (const id of ["from", "to"]) $(id).addEventListener("change", () => { state[id] = $(id).value || null; update(); });
  $("couple").addEventListener("change", () => { state.couple = $("couple").checked; update(); });
  for (const id of ["seed", "precision"]) $(id).addEventListener("change", () => update());
  $("distribution").addEventListener("toggle", () => { if ($("distribution").open) showTail(); writeLink(); });
  $("more").addEventListener("toggle", () => { if ($("more").open) showFigure(); writeLink(); });
  $("figure").addEventListener("change", () => { state.figure = $("figure").value; showFigure(); writeLink(); });
  $("here").addEventListener("click", simulateHere);
  $("along").addEventListener("click", simulateAlong);
  $("stop").addEventListener("click", stopSimulation);
  document.querySelectorAll("form").forEach((one) => one.addEventListener("submit", (event) => event.preventDefault()));
  document.querySelectorAll("[data-copy]").forEach((button) =>
    button.addEventListener("click", () => copy(button.dataset.copy)));
  dark.addEventListener("change", () => update());
  addEventListener("hashchange", () => { if (location.hash !== written) readLink(); });
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; update(); } });
}

async function begin() {
  try {
    await engine.load((text) => { $("broken").textContent = text; });
  } catch (error) {
    $("broken").textContent = `The engine cannot be loaded: ${error.message}`;
    return;
  }
  const { presets, flitwise_version: version } = await engine.ask({ ask: "contents" });
  const groups = new Map();
  for (const { name, group, about } of presets) {
    if (!groups.has(group)) groups.set(group, element("optgroup", { label: group }));
    groups.get(group).append(element("option", { value: name, textContent: `${name}: ${about}` }));
  }
  $("preset").replaceChildren(element("option", { value: "", textContent: "a file of your own" }), ...groups.values());
  $("version").textContent = `flitwise ${version}. ${engine.sentence}`;
  listen();
  await readLink();
  performance.measure("first answer");
}

begin();
