// What all pages build from answers: elements, pictures, tables.

export const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

export const paragraph = (text, className = "muted") => element("p", { textContent: text, className });

export const picture = (svg) => document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);

export const dark = matchMedia("(prefers-color-scheme: dark)");

// How pictures for a place are drawn.
export const style = (place) => ({ dark: dark.matches, width: Math.round(Math.min(Math.max(place.clientWidth, 300), 960)) });

export function showTables(place, tables) {
  place.replaceChildren(...tables.map(({ title, columns, rows }) => {
    const head = columns.map(({ head, unit, meaning }) =>
      element("th", { scope: "col", title: meaning }, head, element("small", { textContent: unit })));
    const body = rows.map((row) => element("tr", {}, ...row.map((cell, at) =>
      element(at === 0 ? "th" : "td", at === 0 ? { scope: "row", textContent: cell } : { textContent: cell }))));
    const table = element("table", {}, element("caption", { textContent: title }),
      element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
    const box = element("div", { className: "wide", tabIndex: 0 }, table);
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", title);
    return box;
  }));
}

// Arrow keys move a slider by its step; "any" would leave that to the browser.
export function moveByKey(event, range) {
  const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
  if (!steps || range.step !== "any") return;
  event.preventDefault();
  const next = Number(range.value) + steps * Number(range.dataset.step);
  range.value = Math.min(Math.max(next, Number(range.min)), Number(range.max));
  range.dispatchEvent(new Event("input"));
}

// Pictures of successive moments: step, play and pause. The first one is shown.
export function player(svgs, name) {
  const figure = element("figure");
  if (svgs.length < 2) {
    figure.append(...svgs.map(picture));
    return figure;
  }
  const place = element("div", { className: "moment" });
  const range = element("input", { type: "range", min: 0, max: svgs.length - 1, step: 1, value: 0 });
  range.setAttribute("aria-label", `${name}: moment`);
  const said = element("span", { className: "muted" });
  let timer = 0;
  const show = (at) => {
    range.value = Math.min(Math.max(at, 0), svgs.length - 1);
    place.replaceChildren(picture(svgs[range.value]));
    said.textContent = `${Number(range.value) + 1} of ${svgs.length}`;
  };
  const button = (text, label, action) => {
    const made = element("button", { type: "button", textContent: text });
    made.setAttribute("aria-label", label);
    made.addEventListener("click", action);
    return made;
  };
  const halt = () => { clearInterval(timer); timer = 0; play.textContent = "Play"; };
  const play = button("Play", `${name}: play or pause`, () => {
    if (timer) return halt();
    if (Number(range.value) === svgs.length - 1) show(0);
    play.textContent = "Pause";
    timer = setInterval(() => {
      // a figure that has gone plays no more
      if (!figure.isConnected || Number(range.value) === svgs.length - 1) return halt();
      show(Number(range.value) + 1);
    }, 500);
  });
  const step = (by) => () => { halt(); show(Number(range.value) + by); };
  range.addEventListener("input", () => { halt(); show(Number(range.value)); });
  figure.append(place, element("div", { className: "bar" }, play,
    button("Back", `${name}: one moment back`, step(-1)), button("Step", `${name}: one moment on`, step(1)), range, said));
  show(0);
  return figure;
}
