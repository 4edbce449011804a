// One schedule: its parameters, its grid of atoms, its bars, its code.
import { balance, most as longestOf, percent, skew } from "./balance.js";
import { Bars } from "./bars.js";
import { isIn, light, showCode } from "./code.js";
import { Grid } from "./grid.js";
import { controlsOf } from "./parameters.js";
import { drawPath } from "./path.js";
import { launch, partition, schedule as made, SCHEDULES, WARP } from "./schedules.js";

const LEVELS = ["threads", "warps", "blocks"];
const number = (n) => n.toLocaleString("en");
const plural = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;

export class Panel {
  constructor(parent, index, events, data) {
    Object.assign(this, { index, events, data });
    this.root = document.getElementById("panel").content.firstElementChild.cloneNode(true);
    parent.append(this.root);
    const find = (selector) => this.root.querySelector(selector);
    this.find = find;
    this.root.setAttribute("aria-label", `Schedule ${index + 1}`);
    this.select = find(".schedule");
    this.select.id = `schedule-${index + 1}`;
    this.select.append(...Object.keys(SCHEDULES).map((name) => new Option(name, name)));
    this.grid = new Grid(find(".grid"));
    this.bars = LEVELS.map((level) => new Bars(find(`.bars.${level}`)));
    this.focus = 0; // the atom that the arrow keys move from
    this.at = [0, 0, 0]; // and the thread, warp and block
    this.listen();
  }

  remove() {
    this.root.remove();
  }

  /** shown: {laid, schedule}, or of a trace {laid, launch, label}. */
  show(shown, state) {
    this.shown = shown;
    this.drawn = "";
    const traced = Boolean(shown.launch);
    this.schedule = traced ? null : made(shown.schedule.name, shown.schedule);
    this.launch = shown.launch ?? (shown.processors ? partition(this.schedule, shown.laid, shown.processors) : launch(this.schedule, shown.laid));
    this.balance = balance(this.launch);
    this.grid.show(shown.laid, this.launch, state);
    this.focus = Math.min(this.focus, Math.max(0, shown.laid.atoms - 1));
    this.name(traced);
    this.numbers();
    this.path(traced);
  }

  name(traced) {
    const name = traced ? this.shown.label.split(" ")[0] : this.schedule.name, known = this.data.schedules[name];
    this.select.disabled = traced;
    this.select.value = known ? name : "";
    const divides = ({ name: key }) => !this.launch.processors || ["size", "flatten"].includes(key); // others say how a launch is cut
    controlsOf(this.find(".who .parameters"), traced ? [] : SCHEDULES[name].parameters.filter(divides), this.shown.schedule, this.events.changed, `s${this.index}`);
    const said = known ? `${known.what}; for ${known.when}. ${known.source}.` : "";
    this.find(".what").textContent = traced ? [this.shown.label, said].filter(Boolean).join(": ") : said;
    const code = name === "group_mapped" && this.schedule?.flatten && !this.launch.processors ? "flatten" : name;
    showCode(this.find(".methods"), this.data.code[code] ?? "# a schedule of your own");
    this.find("details").hidden = !this.data.code[code];
  }

  numbers() {
    const { threads, warps, blocks, idle, idleLanes, most } = this.balance, { block } = this.launch;
    this.find(".numbers").innerHTML = "";
    const strong = (text, label) => {
      const b = document.createElement("b");
      b.textContent = text;
      return [b, ` ${label}`];
    };
    this.find(".numbers").append(...strong(percent(idle), "idle"), " · ", ...strong(plural(most, "step"), "of the longest thread"), " · ", this.launch.processors ? this.divided() : `${plural(this.launch.blocks, "block")} of ${block} threads`);
    for (const level of ["warps", "blocks"]) this.find(`.bars.${level}`).closest("figure").hidden = Boolean(this.launch.processors);
    const ratio = (level) => `longest ${skew(level).toFixed(1)} times the mean`;
    const who = this.launch.processors && block === this.launch.processors ? "Processors" : "Threads";
    this.find(".threads-caption").textContent = `${who}: ${number(threads.time.length)}; ${ratio(threads)}; full height: ${plural(most, "step")}`;
    this.find(".warps-caption").textContent = `Warps: ${number(warps.time.length)}; lanes idle ${percent(idleLanes)}`;
    this.find(".blocks-caption").textContent = `Blocks: ${number(blocks.time.length)}; idle ${percent(idle)}, ${ratio(blocks)}`;
    const over = (level, upper, each) => level.time.map((_, i) => upper.time[Math.floor(i / each)]);
    const all = longestOf(blocks.time);
    this.bars[0].show(threads, over(threads, warps, WARP), all);
    this.bars[1].show(warps, over(warps, blocks, block / WARP), all);
    this.bars[2].show(blocks, blocks.time.map(() => all), all);
    const { laid } = this.shown;
    const label = `${plural(laid.atoms, "atom")} of ${plural(laid.tiles, "tile")}, by the ${this.data.schedules[this.select.value]?.what ?? "schedule"}: ${percent(idle)} idle`;
    this.find(".grid").setAttribute("aria-label", `${label}. Arrow keys move from atom to atom.`);
    LEVELS.forEach((level) => this.find(`.bars.${level}`).setAttribute("aria-label", `${this.find(`.${level}-caption`).textContent}. Arrow keys move from bar to bar.`));
  }

  /** What a partition is for, in words. */
  divided() {
    const { processors, block } = this.launch;
    return `${plural(processors, "processor")}${block > processors ? ` of ${block / processors} threads` : ""}`;
  }

  path(traced) {
    const s = this.schedule, figure = this.find(".path"), along = !traced && ["merge_path", "work_oriented"].includes(s.name);
    figure.hidden = !along;
    if (!along) return (this.share = 0);
    const { laid } = this.shown, threads = this.launch.blocks * this.launch.block, total = laid.tiles + laid.atoms;
    this.byBlock = s.name === "merge_path" && !this.launch.processors;
    this.share = this.byBlock ? s.block * s.items : Math.ceil(total / Math.max(1, threads));
    const who = this.byBlock ? "block" : this.launch.processors ? "processor" : "thread";
    const text = `The merge path: right for each atom, down at the end of each tile. Each ${who} takes ${plural(this.share, "step")} of it.`;
    figure.firstElementChild.textContent = text;
    figure.querySelector("canvas").setAttribute("aria-label", text);
  }

  draw(now, pointed) {
    const mine = pointed && (pointed.meaning || pointed.panel === this.index) ? pointed : null;
    this.grid.draw(now, mine && this.marker(mine, now), mine?.atom ?? -1);
    const thread = mine?.atom >= 0 ? this.launch.worker[mine.atom] : (mine?.threads?.[0] ?? -1);
    const each = [1, WARP, this.launch.block];
    this.bars.forEach((bars, i) => bars.draw(now, thread < 0 ? -1 : Math.floor(thread / each[i])));
    this.drawPath(thread);
    light(this.find(".methods"), (row) => mine?.atom >= 0 && /return/.test(row.textContent) && isIn(row, "def atoms"));
  }

  /** Draws the merge path, if it is shown and another piece is pointed at than before: steps do not change it. */
  drawPath(thread) {
    if (!this.share) return;
    const piece = this.byBlock ? Math.floor(thread / this.launch.block) : thread;
    const key = `${thread < 0 ? -1 : piece} ${document.documentElement.dataset.theme}`;
    if (key === this.drawn) return;
    this.drawn = key;
    drawPath(this.find(".path canvas"), this.shown.laid, this.share, thread < 0 ? -1 : piece);
  }

  /** Which atoms stay in colour. */
  marker(pointed, now) {
    const { worker, step } = this.launch, { offsets } = this.shown.laid, { tile } = this.grid;
    if (pointed.meaning === "tiles") return (k) => k === offsets[tile[k]];
    if (pointed.meaning === "ends") return (k) => k === offsets[tile[k] + 1] - 1;
    if (pointed.meaning === "atoms") return (k) => step[k] === Math.min(now, this.balance.most - 1);
    if (pointed.threads) return (k) => worker[k] >= pointed.threads[0] && worker[k] < pointed.threads[1];
    const thread = worker[pointed.atom];
    return (k) => worker[k] === thread;
  }

  /** Whether an atom is where a tile begins or ends. */
  isAt(atom, meaning) {
    const { offsets } = this.shown.laid, tile = this.grid.tile[atom];
    return (meaning === "tiles" && atom === offsets[tile]) || (meaning === "ends" && atom === offsets[tile + 1] - 1);
  }

  describe({ atom, threads, level }) {
    const { worker, step, block } = this.launch, { laid } = this.shown;
    const { processors } = this.launch, each = block / (processors || 1);
    const where = (thread) => processors ? `processor ${number(Math.floor(thread / each))}${each > 1 ? `, its thread ${thread % each}` : ""}` : `thread ${number(thread % block)} of block ${number(Math.floor(thread / block))} (warp ${Math.floor((thread % block) / WARP)}, lane ${thread % WARP})`;
    if (atom >= 0) {
      const tile = this.grid.tile[atom], thread = worker[atom], column = laid.column(tile, atom), row = laid.row(tile, atom);
      const at = laid.masked?.[atom] ? "padding" : column < 0 ? "" : `row ${number(row)}, column ${number(column)}`;
      const first = laid.offsets[tile], size = laid.offsets[tile + 1] - first;
      const item = laid.items ? `, of item ${number(partOf(laid.items, tile))}` : "";
      return `Atom ${number(atom)}${at ? ` (${at})` : ""}: ${number(atom - first + 1)} of the ${number(size)} of tile ${number(tile)}${item}. ` +
        `Taken by ${where(thread)}, at its step ${number(step[atom] + 1)} of ${number(this.balance.threads.atoms[thread])}.`;
    }
    const which = LEVELS.indexOf(level), [first] = threads, held = this.balance[level], at = Math.floor(first / [1, WARP, block][which]);
    const who = which === 0 ? where(first) : which === 1 ? `warp ${number(at)}` : `block ${number(at)}`;
    return `${who[0].toUpperCase()}${who.slice(1)}: ${plural(held.atoms[at], "atom")} in ${plural(held.time[at], "step")}.`;
  }

  listen() {
    const { events, index } = this, grid = this.find(".grid");
    this.select.addEventListener("change", () => events.schedule(index, { name: this.select.value, block: this.shown.schedule.block ?? 64 }));
    const atom = (k) => {
      if (k >= 0) this.focus = k;
      events.point(k >= 0 ? { panel: index, atom: k } : null);
    };
    grid.addEventListener("pointermove", (event) => {
      if (event.pointerType !== "touch") atom(this.grid.atomAt(event.offsetX, event.offsetY));
    });
    grid.addEventListener("click", (event) => atom(this.grid.atomAt(event.offsetX, event.offsetY)));
    grid.addEventListener("pointerleave", () => events.point(null));
    grid.addEventListener("focus", () => this.shown.laid.atoms && atom(this.focus));
    grid.addEventListener("blur", () => events.point(null));
    grid.addEventListener("keydown", (event) => {
      const { laid } = this.shown, tile = this.grid.tile[this.focus];
      const to = {
        ArrowLeft: () => this.focus - 1, ArrowRight: () => this.focus + 1, Home: () => 0, End: () => laid.atoms - 1,
        ArrowUp: () => laid.offsets[tile] - 1, ArrowDown: () => laid.offsets[tile + 1],
      }[event.key];
      if (!to || !laid.atoms) return;
      event.preventDefault();
      atom(Math.max(0, Math.min(laid.atoms - 1, to())));
    });
    LEVELS.forEach((level, i) => {
      const canvas = this.find(`.bars.${level}`);
      const processor = (at) => {
        const { length } = this.bars[i].level.time, each = [1, WARP, this.launch.block][i];
        if (!length) return;
        this.at[i] = Math.max(0, Math.min(length - 1, at));
        events.point({ panel: index, threads: [this.at[i] * each, (this.at[i] + 1) * each], level });
      };
      canvas.addEventListener("pointermove", (event) => processor(this.bars[i].processorAt(event.offsetX)));
      canvas.addEventListener("pointerleave", () => events.point(null));
      canvas.addEventListener("focus", () => processor(this.at[i]));
      canvas.addEventListener("blur", () => events.point(null));
      canvas.addEventListener("keydown", (event) => {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (!by) return;
        event.preventDefault();
        processor(this.at[i] + by);
      });
    });
  }
}

/** Which of consecutive parts, that begin at `starts`, has a place; parts may be empty. */
function partOf(starts, place) {
  let low = 0, high = starts.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= place) low = middle;
    else high = middle;
  }
  return low;
}
