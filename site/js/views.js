// The page of views: one of a table is shown, as scenes of one or two schedules. The state is what a link holds.
import { showCode } from "./code.js";
import { textOf } from "./matrices.js";
import { copy, onFile, onWidth, ready, select, tabs } from "./page.js";
import { controlsOf } from "./parameters.js";
import { Player } from "./player.js";
import { Scene } from "./scene.js";
import { known, written } from "./state.js";
import { parseTasks } from "./tasks.js";
import { queues } from "./views/queues.js";
import { VIEWS } from "./views/table.js";

const $$ = (id) => document.getElementById(id);
const data = await (await fetch("data.json")).json();
// What evenly has of schedules that a view knows.
for (const p of Object.values(VIEWS).flatMap((view) => view.schedule)) if (p.of) p.words = p.words.filter((word) => data[p.of][word]);
let trace = null; // of tasks, instead of a tree and a schedule
let state = fromFragment(location.hash), panels = [], pointed = null, linked = location.hash;

// ---- links: #view=items&w=items=8,rows=16&s=outer=warp_mapped&s2=... ---------------------------------------
function toFragment() {
  const parts = [`view=${state.view}`];
  const add = (key, chosen) => written(chosen).length && parts.push(`${key}=${written(chosen).join(",")}`);
  add("w", state.work);
  state.schedules.forEach((s, i) => add(i ? "s2" : "s", s));
  if (player.kept >= 0) parts.push(`t=${player.kept}`);
  return `#${parts.join("&")}`;
}

/** Reads a fragment. What is unknown or out of range in it is as at the start. */
function fromFragment(fragment) {
  const held = new URLSearchParams(fragment.replace(/^#/, "")), name = held.get("view"), view = Object.hasOwn(VIEWS, name) ? name : "items";
  const { work, schedule, start } = VIEWS[view], of = (key, parameters) => known((held.get(key) ?? "").split(","), parameters);
  const schedules = ["s", "s2"].filter((key) => held.has(key)).map((key) => of(key, schedule));
  return { view, work: of("w", work), schedules: schedules.length ? schedules : structuredClone(start), step: /^\d{1,5}$/.test(held.get("t") ?? "") ? Number(held.get("t")) : -1 };
}

const filled = (parameters, chosen) => Object.fromEntries(parameters.map((p) => [p.name, chosen[p.name] ?? p.start]));

// ---- a schedule ---------------------------------------------------------------------------------------------
class Panel {
  constructor(index) {
    this.index = index;
    this.root = $$("panel").content.firstElementChild.cloneNode(true);
    this.root.setAttribute("aria-label", `Schedule ${index + 1}`);
    $$("main").append(this.root);
    this.canvas = this.find("canvas");
    this.scene = new Scene(this.canvas);
    this.focus = 0;
    const point = (mark) => {
      if (mark >= 0) this.focus = mark;
      pointed = mark >= 0 ? { panel: this, mark } : null;
      player.draw();
    };
    const under = (event) => point(this.scene.markAt(event.offsetX, event.offsetY));
    this.canvas.addEventListener("pointermove", (event) => event.pointerType !== "touch" && under(event));
    this.canvas.addEventListener("click", under);
    this.canvas.addEventListener("pointerleave", () => point(-1));
    this.canvas.addEventListener("focus", () => this.scene.scene.marks.length && point(this.focus));
    this.canvas.addEventListener("blur", () => point(-1));
    this.canvas.addEventListener("keydown", (event) => {
      if (event.key === "Escape") return point(-1);
      if (!/^(Arrow|Home$|End$)/.test(event.key) || !this.scene.scene.marks.length) return;
      event.preventDefault();
      point(this.scene.beside(this.focus, event.key));
    });
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  /** Shows a view's scene of the work under a schedule, or that of a trace. */
  show(view, work, chosen) {
    if (trace) return this.picture(view, queues.picture(trace.tree, trace.run, trace.workers, this.scene.width()), trace.schedule);
    const s = filled(view.schedule, chosen), parameters = view.schedule.filter((p) => !p.when || p.when(s));
    controlsOf(this.find(".parameters"), parameters, chosen, changed, `s${this.index}`);
    const { of } = view.schedule[0], known = of && data[of][s.schedule];
    return this.picture(view, view.scene(work, s, this.scene.width()), known ? `${known.what}; for ${known.when}. ${known.source}.`.replaceAll("`", "") : "");
  }

  picture(view, scene, said) {
    this.scene.show(scene);
    this.find(".who").hidden = Boolean(trace);
    this.focus = Math.min(this.focus, Math.max(0, scene.marks.length - 1));
    this.find(".call").textContent = scene.call ?? "";
    this.find(".said").textContent = said;
    const parts = scene.numbers.flatMap(([strong, rest], i) => {
      const b = document.createElement("b");
      b.textContent = strong;
      return [i ? " · " : "", b, rest ? ` ${rest}` : ""];
    });
    this.find(".numbers").replaceChildren(...parts);
    this.find(".legend").textContent = view.legend;
    return scene.most;
  }
}

// ---- from the state to the page -----------------------------------------------------------------------------
function rebuild() {
  const view = VIEWS[state.view], schedules = trace ? [{}] : state.schedules;
  pointed = null;
  select($$("tabs"), $$("view"), state.view);
  $$("lead").textContent = trace ? `The trace of ${trace.kernel}, on ${trace.workers} processors.` : view.lead;
  $$("more").textContent = view.docsTitle;
  $$("more").href = view.docs;
  $$("work").hidden = $$("two").parentElement.hidden = Boolean(trace);
  controlsOf($$("work"), view.work, state.work, changed, `work-${view.name}`);
  $$("two").checked = state.schedules.length > 1;
  showCode($$("kernel"), trace ? trace.source : data.kernels[view.kernel]);
  try {
    while (panels.length > schedules.length) panels.pop().root.remove();
    while (panels.length < schedules.length) panels.push(new Panel(panels.length));
    $$("main").classList.toggle("two", panels.length > 1);
    const work = filled(view.work, state.work);
    player.reset(Math.max(...panels.map((panel, i) => panel.show(view, work, schedules[i]))), state.step);
    report(null);
  } catch (error) {
    report(error);
  }
}

function changed() {
  state.step = -1;
  rebuild();
  link();
}

function link() {
  if (trace) return; // which no link holds
  state.step = player.kept;
  linked = toFragment();
  history.replaceState(null, "", linked);
}

function report(error) {
  $$("problem").hidden = !error;
  $$("problem").textContent = error?.message ?? "";
}

const player = new Player((now) => {
  for (const panel of panels) panel.scene.draw(now, pointed?.panel === panel ? pointed.mark : -1);
  $$("pointed").textContent = pointed ? pointed.panel.scene.scene.marks[pointed.mark].text : "Nothing. Point at a mark, or focus a picture and use the arrow keys.";
}, link);

// ---- listeners ------------------------------------------------------------------------------------------------
function choose(name) {
  trace = null;
  state = { ...fromFragment(`#view=${name}`), step: -1 };
  rebuild();
  link();
}

tabs($$("tabs"), Object.values(VIEWS), $$("view"), choose);
$$("controls").addEventListener("submit", (event) => event.preventDefault());
$$("two").addEventListener("change", () => {
  const { start } = VIEWS[state.view];
  state.schedules = $$("two").checked ? [state.schedules[0], structuredClone(start[1])] : [state.schedules[0]];
  changed();
});
$$("link").addEventListener("click", () => {
  if (trace) return report(new Error("a link cannot hold a file: choose a view"));
  link();
  copy($$("link"), location.href, "It is in the address bar");
});
window.addEventListener("hashchange", () => {
  if (location.hash === linked) return;
  trace = null;
  state = fromFragment(location.hash);
  rebuild();
});
onFile($$("file"), async (file) => {
  try {
    trace = parseTasks(await textOf(file));
    state = { ...fromFragment("#view=queues"), step: -1 };
    rebuild();
  } catch (error) {
    report(new Error(`${file.name}: ${error.message}`));
  }
});
document.addEventListener("themechange", () => player.draw());
onWidth(rebuild);
rebuild();
ready();
