// Colours of workers: those of Okabe and Ito (2008), which colour-blind readers tell apart, with a grey for their black.

const HUES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#555555", "#f0e442"];

/** The number of a worker's hue. Turned after every eight, so that groups of 8 and of 32 do not all look alike. */
export const hueOf = (worker) => (worker + 3 * Math.floor(worker / HUES.length)) % HUES.length;
export const hue = (worker) => HUES[hueOf(worker)];

/** The page's colours now, in light or dark. */
export function theme() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return { ink: of("--ink"), paper: of("--canvas"), faint: of("--faint"), soft: of("--accent-soft"), line: of("--line"), busy: of("--busy"), idle: of("--idle"), mark: of("--mark"), muted: of("--muted") };
}

function rgb(hex) {
  const n = parseInt(hex.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

/** A hue of a mark that is to come, as CSS has it. */
export const pale = (worker, paper, share = 0.8) => `rgb(${mixed(rgb(hue(worker)), rgb(paper), share).join()})`;

const mixed = (a, b, share) => a.map((x, i) => Math.round(x + (b[i] - x) * share));
const word = ([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r; // as a canvas has it in memory

/** Tables of a colour for each hue, as words of a canvas: of atoms that are done, to come, and aside. */
export function tables(paper) {
  const back = rgb(paper), all = HUES.map(rgb);
  const of = (share) => Uint32Array.from(all, (c) => word(mixed(c, back, share)));
  return { done: of(0), ahead: of(0.82), aside: of(0.72), padding: word(mixed(back, [128, 128, 128], 0.35)) };
}

export const words = (hex) => word(rgb(hex));
