// The explorer: controls, panels, and what is pointed at. The state is what a link holds (state.js).
import { light, MEANINGS, meaningOf, showCode } from "./code.js";
import { lay, LAYOUTS } from "./layouts.js";
import { showLevels } from "./levels.js";
import { ofPreset, parseLengths, parseMarket, parseTrace, textOf } from "./matrices.js";
import { copy, onFile, onWidth, ready } from "./page.js";
import { Panel } from "./panel.js";
import { controlsOf } from "./parameters.js";
import { Player } from "./player.js";
import { fromFragment, toFragment } from "./state.js";

const $$ = (id) => document.getElementById(id);
const data = await (await fetch("data.json")).json();
let state = fromFragment(location.hash);
let pattern = null; // what is shown, before it has a layout
let trace = null; // instead of a pattern: a file of plan.trace()
let panels = [], pointed = null, written = location.hash;

// ---- from the state to the page --------------------------------------------------------------------------
async function load() {
  try {
    if (trace) {
      // it stays until another matrix is chosen
    } else if (state.matrix === "lengths") pattern = parseLengths(state.lengths || $$("lengths").value);
    else if (state.matrix !== "file") pattern = ofPreset(await preset(state.matrix));
    else if (!pattern) throw new Error("the link shows a file, which a link cannot hold: choose the file again");
    rebuild();
  } catch (error) {
    report(error);
  }
}

async function preset(name) {
  const known = data.presets.find((p) => p.name === name);
  if (!known) throw new Error(`there is no matrix "${name}"`);
  const answer = await fetch(`presets/${name}.json`);
  if (!answer.ok) throw new Error(`presets/${name}.json: ${answer.status}`);
  return answer.json();
}

function rebuild() {
  try {
    const shown = trace ? trace.phases : problems();
    while (panels.length > shown.length) panels.pop().remove();
    while (panels.length < shown.length) panels.push(new Panel($$("main"), panels.length, events, data));
    $$("main").classList.toggle("two", shown.length > 1);
    panels.forEach((panel, i) => panel.show(shown[i], state));
    player.reset(Math.max(0, ...panels.map((panel) => panel.balance.most)), state.step);
    kernel();
    describe();
    report(null);
    controls();
  } catch (error) {
    report(error);
  }
}

/** What the panels show of the pattern: one entry for each schedule. */
function problems() {
  const laid = lay(pattern, state.layout.name, state.layout);
  return state.schedules.map((schedule) => ({ laid, schedule, processors: state.processors }));
}

function kernel() {
  const text = trace ? trace.source : data.kernel;
  showCode($$("kernel"), text, meaningOf);
}

function describe() {
  const { laid } = panels[0].shown, count = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
  const parts = [`${count(laid.tiles, "tile")}, ${count(laid.atoms, "atom")}`];
  if (trace) parts.unshift(`the trace of ${trace.kernel}, ${trace.phases.map((p) => p.layout).join(" and ")}`);
  else parts.unshift(`${name()} as ${state.layout.name}`);
  if (laid.masked) parts.push(`${laid.masked.reduce((a, b) => a + b, 0).toLocaleString("en")} of them padding`);
  if (panels[0].grid.note) parts.push(panels[0].grid.note);
  if (laid.items) parts.push(`${count(laid.items.length - 1, "item")}, with a line around each`);
  if (laid.levels) parts.push(`level ${state.layout.level ?? 1} of 0 to ${laid.levels.length - 1} of a breadth-first search`);
  if (state.dense > 1) parts.push(`${state.dense} dense columns, each with the same division (ev.lanes)`);
  $$("about").textContent = `${parts.join("; ")}.`;
}

function name() {
  return data.presets.find((p) => p.name === state.matrix)?.title ?? (state.matrix === "file" ? "your file" : "your lengths");
}

function controls() {
  $$("matrix").value = trace ? "file" : state.matrix;
  $$("lengths-label").hidden = state.matrix !== "lengths";
  if (state.lengths) $$("lengths").value = state.lengths;
  $$("layout").value = state.layout.name;
  $$("layout").disabled = Boolean(trace);
  const { parameters } = LAYOUTS[state.layout.name];
  const { levels } = panels[0].shown.laid, last = Math.max(0, (levels?.length ?? 1) - 1);
  const bounded = parameters.map((p) => (p.name === "level" ? { ...p, most: last } : p));
  controlsOf($$("layout-parameters"), trace ? [] : bounded, state.layout, changed, "layout");
  $$("levels").hidden = !levels || Boolean(trace);
  if (levels && !trace) {
    showLevels($$("levels"), pattern, levels, state.layout.level ?? 1, state.schedules[0], (level) => {
      state.layout.level = level;
      state.step = -1;
      changed();
      $$("levels").querySelectorAll("button")[level]?.focus();
    });
  }
  for (const id of ["arrange", "colour", "dense"]) $$(id).value = state[id];
  $$("dense-out").textContent = state.dense;
  $$("processors").value = state.processors;
  $$("processors").disabled = Boolean(trace);
  $$("processors-out").textContent = state.processors || "launch";
  $$("processors").setAttribute("aria-valuetext", $$("processors-out").textContent);
  $$("two").checked = panels.length > 1;
  $$("two").disabled = Boolean(trace);
}

/** A choice was made: the page and the link follow. */
function changed() {
  rebuild();
  link();
}

function link() {
  if (trace) return; // which no link holds
  state.step = player.kept;
  written = toFragment(state);
  history.replaceState(null, "", written);
}

function report(error) {
  $$("problem").hidden = !error;
  $$("problem").textContent = error ? error.message : "";
}

// ---- steps -------------------------------------------------------------------------------------------------
const player = new Player((now) => {
  panels.forEach((panel) => panel.draw(now, pointed));
  say();
}, () => link());

// ---- what is pointed at --------------------------------------------------------------------------------------
/** what: {panel, atom}, {panel, threads: [first, last)}, {panel, meaning}, or null. */
function point(what) {
  pointed = what;
  player.draw();
}

function say() {
  light($$("kernel"), (row) => lit(row));
  $$("pointed").textContent = pointed ? text() : "Nothing. Point at an atom or a bar, or focus the grid and use the arrow keys.";
}

function lit(row) {
  if (!pointed) return false;
  if (pointed.meaning) return row.dataset.meaning === pointed.meaning;
  return row.dataset.meaning === "atoms" || (pointed.atom >= 0 && panels[pointed.panel].isAt(pointed.atom, row.dataset.meaning));
}

function text() {
  if (pointed.meaning) return `The line's part: ${MEANINGS[pointed.meaning]}.`;
  return panels[pointed.panel]?.describe(pointed) ?? "";
}

const events = {
  changed,
  point,
  schedule: (panel, chosen) => {
    state.schedules[panel] = chosen;
    state.step = -1;
    changed();
  },
};

// ---- listeners -------------------------------------------------------------------------------------------------
function fill() {
  const option = (value, text) => new Option(text, value);
  for (const group of [...new Set(data.presets.map((p) => p.group))]) {
    const held = document.createElement("optgroup");
    held.label = group;
    held.append(...data.presets.filter((p) => p.group === group).map((p) => option(p.name, p.title)));
    $$("matrix").append(held);
  }
  $$("matrix").append(option("lengths", "row lengths that you type"), option("file", "a file of yours"));
  $$("layout").append(...Object.entries(LAYOUTS).map(([key, { title }]) => option(key, title)));
}

function listen() {
  $$("controls").addEventListener("submit", (event) => event.preventDefault());
  $$("matrix").addEventListener("change", async () => {
    if ($$("matrix").value === "file") return $$("file").click();
    trace = null;
    state.matrix = $$("matrix").value;
    state.step = -1;
    $$("lengths-label").hidden = state.matrix !== "lengths";
    if (state.matrix === "lengths") state.lengths = $$("lengths").value;
    await load();
    link();
  });
  $$("lengths").addEventListener("input", async () => {
    state.lengths = $$("lengths").value;
    state.step = -1;
    await load();
    link();
  });
  $$("layout").addEventListener("change", () => {
    state.layout = { name: $$("layout").value };
    state.step = -1;
    changed();
  });
  for (const id of ["arrange", "colour"]) {
    $$(id).addEventListener("change", () => {
      state[id] = $$(id).value;
      changed();
    });
  }
  for (const id of ["dense", "processors"]) {
    $$(id).addEventListener("input", () => {
      state[id] = Number($$(id).value);
      state.step = -1;
      changed();
    });
  }
  $$("two").addEventListener("change", () => {
    state.schedules = $$("two").checked ? [state.schedules[0], { name: "merge_path", block: state.schedules[0].block ?? 256 }] : [state.schedules[0]];
    state.step = -1;
    changed();
  });
  $$("link").addEventListener("click", () => {
    if (trace || state.matrix === "file") return report(new Error("a link cannot hold a file: choose a matrix of the list"));
    link();
    copy($$("link"), location.href, "It is in the address bar");
  });
  onFile($$("file"), open);
  const meaning = (event) => event.target.closest?.("[data-meaning]")?.dataset.meaning;
  for (const kind of ["pointerover", "focusin"]) {
    $$("kernel").addEventListener(kind, (event) => meaning(event) && point({ meaning: meaning(event) }));
  }
  for (const kind of ["pointerleave", "focusout"]) $$("kernel").addEventListener(kind, () => point(null));
  document.addEventListener("keydown", (event) => event.key === "Escape" && point(null));
  window.addEventListener("hashchange", async () => {
    if (location.hash === written) return;
    trace = null;
    state = fromFragment(location.hash);
    await load();
  });
  document.addEventListener("themechange", () => player.draw());
  onWidth(rebuild);
}

async function open(file) {
  if (!file) return controls();
  try {
    const content = await textOf(file);
    if (content.startsWith("%%")) {
      pattern = parseMarket(content);
      trace = null;
      state.matrix = "file";
    } else {
      trace = parseTrace(content);
    }
    state.step = -1;
    rebuild();
    if (!trace) link();
  } catch (error) {
    report(new Error(`${file.name}: ${error.message}`));
  }
}

fill();
listen();
await load();
ready();
