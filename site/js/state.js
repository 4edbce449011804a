// The view as the fragment of a link: #m=rmat-10&l=csr&s=merge_path,block=64,items=3
import { LAYOUTS } from "./layouts.js";
import { SCHEDULES } from "./schedules.js";

const START = {
  matrix: "power-law", lengths: "", layout: { name: "csr" }, schedules: [{ name: "thread_mapped", block: 64 }],
  arrange: "auto", colour: "thread", step: -1, dense: 1, processors: 0,
};
const ARRANGEMENTS = ["auto", "rows", "packed"], COLOURS = ["thread", "warp", "block"];

export function toFragment(state) {
  const held = new URLSearchParams();
  held.set("m", state.matrix);
  if (state.matrix === "lengths") held.set("n", state.lengths.trim().replace(/[\s,;]+/g, "."));
  held.set("l", chosen(state.layout));
  state.schedules.forEach((s, i) => held.set(i ? "s2" : "s", chosen(s)));
  if (state.arrange !== "auto") held.set("v", state.arrange);
  if (state.colour !== "thread") held.set("c", state.colour);
  if (state.step >= 0) held.set("t", state.step);
  if (state.dense > 1) held.set("d", state.dense);
  if (state.processors) held.set("p", state.processors);
  return `#${held.toString().replaceAll("%2C", ",").replaceAll("%3D", "=")}`;
}

/** Reads a fragment. What is unknown or out of range in it is as at the start. */
export function fromFragment(fragment) {
  const held = new URLSearchParams(fragment.replace(/^#/, ""));
  const state = structuredClone(START);
  if (/^[\w-]{1,60}$/.test(held.get("m") ?? "")) state.matrix = held.get("m");
  state.lengths = (held.get("n") ?? "").replaceAll(".", " ").slice(0, 20_000);
  state.layout = read(held.get("l"), LAYOUTS) ?? state.layout;
  const schedules = [held.get("s"), held.get("s2")].map((text) => read(text, SCHEDULES)).filter(Boolean);
  if (schedules.length) state.schedules = schedules;
  if (ARRANGEMENTS.includes(held.get("v"))) state.arrange = held.get("v");
  if (COLOURS.includes(held.get("c"))) state.colour = held.get("c");
  if (/^\d{1,7}$/.test(held.get("t") ?? "")) state.step = Number(held.get("t"));
  if (/^[1-8]$/.test(held.get("d") ?? "")) state.dense = Number(held.get("d"));
  if (/^([1-9]|[1-5]\d|6[0-4])$/.test(held.get("p") ?? "")) state.processors = Number(held.get("p"));
  return state;
}

/** A name and its parameters as a link has them: merge_path,block=64. */
function chosen({ name, ...parameters }) {
  return [name, ...written(parameters)].join(",");
}

export const written = (parameters) => Object.entries(parameters).map(([key, value]) => `${key}=${value}`.replaceAll(" ", "_"));

function read(text, table) {
  const [name, ...parts] = (text ?? "").split(",");
  return Object.hasOwn(table, name) ? { name, ...known(parts, table[name].parameters) } : null;
}

/** Of the parts "name=value" of a link, those that a parameter allows. */
export function known(parts, parameters) {
  const found = {};
  for (const part of parts) {
    const [key, text] = part.split("="), p = parameters.find(({ name }) => name === key);
    const value = p?.words ? p.words.find((word) => word.replaceAll(" ", "_") === text) : Number(text);
    if (p && allowed(p, value)) found[key] = value;
  }
  return found;
}

function allowed(p, value) {
  if (p.words) return value !== undefined;
  if (!Number.isInteger(value)) return false;
  if (p.values) return p.values.includes(value);
  return value >= p.least && value <= p.most && (value - p.least) % (p.step ?? 1) === 0;
}
