// The front page: schedules in tabs, each with its walk, and the merge path.
import { balance } from "./balance.js";
import { Bars } from "./bars.js";
import { isIn, light, meaningOf, showCode } from "./code.js";
import { Grid } from "./grid.js";
import { lay } from "./layouts.js";
import { parseLengths } from "./matrices.js";
import { copy, onWidth, ready, select, tabs } from "./page.js";
import { drawPath } from "./path.js";
import { launch, mergeSearch, schedule, SCHEDULES, sharing } from "./schedules.js";

const $$ = (id) => document.getElementById(id);
const FIRST = ["thread_mapped", "work_oriented", "merge_path"];
const SMALL = {
  thread_mapped: { block: 32 }, work_oriented: { block: 32, items: 6 }, merge_path: { block: 32, items: 3 }, nonzero_split: { block: 32, items: 2 },
  group_mapped: { block: 32, size: 4 }, warp_mapped: { block: 32 }, block_mapped: { block: 64 }, dynamic_chunks: { block: 32, chunk: 4, size: 4 },
  lrb: { block: 32, lanes: 4, thread: 4, group: 8, warp: 16 },
};
const ROWS = "3 1 0 5 2 2 21 0 0 4 1 3 2 7 1 0 12 2 1 3 0 0 6 2 1 18 3 2 0 1 4 2";
const laid = lay(parseLengths(ROWS), "csr");
const data = await (await fetch("data.json")).json();

// ---- the walk of a schedule ------------------------------------------------------------------------------
const grid = new Grid($$("walk-grid")), bars = new Bars($$("walk-bars"));
let shown, found, now = 0, atom = -1, focus = 0, playing = 0;

function choose(name) {
  stop();
  shown = launch(schedule(name, SMALL[name]), laid);
  found = balance(shown);
  select($$("tabs"), $$("walk"), name);
  const { what, when } = data.schedules[name], parameters = Object.entries(SMALL[name]).map(([k, v]) => `${k}=${v}`).join(", ");
  $$("walk-what").innerHTML = "";
  const code = document.createElement("code");
  code.textContent = `spmv[ev.${SCHEDULES[name].title}(${parameters})](A, x, y)`;
  $$("walk-what").append(code, document.createElement("br"), `${what}; for ${when}`);
  showCode($$("walk-code"), data.code[name]);
  $$("walk-grid").setAttribute("aria-label", `32 rows, ${laid.atoms} atoms: ${what}. Arrow keys move from atom to atom.`);
  $$("walk-step").max = found.most;
  size();
  now = found.most;
  draw();
}

function size() {
  grid.show(laid, shown, { arrange: "rows", colour: "thread" });
  const held = found.threads.time.map((_, i) => found.blocks.time[Math.floor(i / shown.block)]);
  bars.show(found.threads, held, found.most);
}

function draw() {
  const thread = atom < 0 ? -1 : shown.worker[atom];
  grid.draw(now, thread < 0 ? null : (k) => shown.worker[k] === thread, atom);
  bars.draw(now, thread);
  $$("walk-step").value = now;
  $$("walk-out").textContent = `${now} of ${found.most}`;
  const idle = Math.round(found.idle * 100), threads = shown.blocks * shown.block;
  $$("walk-bars-caption").textContent = `${threads} threads in ${shown.blocks} block${shown.blocks > 1 ? "s" : ""}; ${found.most} step${found.most > 1 ? "s" : ""}; ${idle}% idle`;
  $$("walk-bars").setAttribute("aria-label", $$("walk-bars-caption").textContent);
  light($$("walk-code"), (row) => (thread >= 0 || playing) && /return/.test(row.textContent) && isIn(row, "def atoms"));
  light($$("kernel"), (row) => (thread >= 0 || playing) && row.dataset.meaning === "atoms");
  $$("walk-said").textContent = thread < 0 ? "" :
    `Thread ${thread % shown.block} of block ${Math.floor(thread / shown.block)} takes ${found.threads.atoms[thread]} of the ${laid.atoms} atoms; this one is its step ${shown.step[atom] + 1}, of row ${grid.tile[atom]}.`;
}

function play() {
  if (playing) return stop();
  now = 0;
  $$("walk-play").textContent = "⏸ Pause";
  const pace = Math.max(120, Math.min(500, 4000 / found.most));
  playing = setInterval(() => {
    now++;
    if (now >= found.most) stop();
    draw();
  }, pace);
  draw();
}

function stop() {
  clearInterval(playing);
  playing = 0;
  $$("walk-play").textContent = "▶ Play";
}

function point(k) {
  if (k === atom) return;
  atom = k;
  if (k >= 0) focus = k;
  draw();
}

function listen() {
  const canvas = $$("walk-grid");
  canvas.addEventListener("pointermove", (event) => point(grid.atomAt(event.offsetX, event.offsetY)));
  canvas.addEventListener("click", (event) => point(grid.atomAt(event.offsetX, event.offsetY)));
  canvas.addEventListener("pointerleave", () => point(-1));
  canvas.addEventListener("focus", () => point(focus));
  canvas.addEventListener("blur", () => point(-1));
  canvas.addEventListener("keydown", (event) => {
    const tile = grid.tile[focus];
    const to = { ArrowLeft: focus - 1, ArrowRight: focus + 1, ArrowUp: laid.offsets[tile] - 1, ArrowDown: laid.offsets[tile + 1] }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    point(Math.max(0, Math.min(laid.atoms - 1, to)));
  });
  $$("walk-play").addEventListener("click", play);
  $$("walk-step").addEventListener("input", () => {
    stop();
    now = Number($$("walk-step").value);
    draw();
  });
  $$("path-count").addEventListener("input", path);
  $$("path-one").addEventListener("input", path);
  $$("copy").addEventListener("click", () => copy($$("copy"), $$("bibtex").textContent, "Select it, and copy"));
  const again = () => {
    size();
    draw();
    path();
  };
  document.addEventListener("themechange", again);
  onWidth(again);
}

// ---- the merge path -----------------------------------------------------------------------------------------
const few = lay(parseLengths("2 0 1 5 0 0 3 1"), "csr");

function path() {
  const count = Number($$("path-count").value), total = few.tiles + few.atoms, share = Math.ceil(total / count);
  $$("path-one").max = count - 1;
  const which = Math.min(Number($$("path-one").value), count - 1);
  const mine = sharing({ name: "merge_path" }, few, count, which);
  $$("path-out").textContent = count;
  $$("path-which").textContent = which;
  const steps = mine.to - mine.from, atoms = mine.stop - mine.start, looks = [];
  mergeSearch(few.offsets, mine.from, (tile) => looks.push(tile));
  const takes = steps ? `${plural(atoms, "nonzero")}, and the end${steps - atoms === 1 ? "" : "s"} of ${plural(steps - atoms, "row")}.` : "nothing is left for it.";
  const begins = mine.from && steps ? ` Its search looks at ${plural(looks.length, "place")} on the diagonal ${mine.from}: ${plural(mine.first, "row")} end${mine.first === 1 ? "s" : ""} before its share, and ${plural(mine.start, "nonzero")} come${mine.start === 1 ? "s" : ""} before it.` : "";
  $$("path-said").textContent = `Processor ${which} takes ${plural(steps, "step")} of ${total}: ${takes}${begins}`;
  $$("path").setAttribute("aria-label", `The merge path of ${few.tiles} rows and ${few.atoms} nonzeros, in pieces of ${share}`);
  drawPath($$("path"), few, share, which, steps ? looks : []);
}

const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

showCode($$("kernel"), data.kernel, meaningOf);
for (const row of $$("kernel").querySelectorAll("button")) row.tabIndex = -1;
const names = [...FIRST, ...Object.keys(SCHEDULES).filter((name) => !FIRST.includes(name))];
tabs($$("tabs"), names.map((name) => ({ name, title: name.replaceAll("_", " ") })), $$("walk"), choose);
listen();
choose("thread_mapped");
path();
ready();
