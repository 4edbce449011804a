// Code whose lines light up: those of the kernel and of a schedule's methods.

const WORDS = /(#.*$)|("(?:[^"\\]|\\.)*")|\b(def|for|in|return|if|else|while|class|import|as|and|or|not|yield|from|min|max|sum|range)\b|(@[\w.]+)|\b(\d+)\b/g;
const CLASSES = ["comment", "string", "word", "decorator", "number"];

/** Fills `element` with the lines of `text`, each a button if `pick(line)` says what it stands for. */
export function showCode(element, text, pick = () => null) {
  element.replaceChildren();
  text.trimEnd().split("\n").forEach((line, number) => {
    const meaning = pick(line);
    const row = document.createElement(meaning ? "button" : "span");
    row.className = "line";
    row.dataset.number = number + 1;
    if (meaning) {
      row.type = "button";
      row.dataset.meaning = meaning;
      row.title = MEANINGS[meaning];
    }
    coloured(row, line);
    element.append(row);
  });
}

export const MEANINGS = {
  tiles: "the first atoms of tiles",
  atoms: "the atoms of the current step",
  ends: "the last atoms of tiles, after which a tile's result is stored",
};

/** What a line of a kernel does: begins tiles, takes atoms, ends tiles. */
export function meaningOf(line) {
  if (/for .+ in .+\.tiles\(\)/.test(line)) return "tiles";
  if (/\.(atoms|value|column)\(/.test(line)) return "atoms";
  if (/^\s+\w+\[\w+\] = /.test(line)) return "ends";
  return null;
}

/** Lights the lines for which `lit(row)` holds. */
export function light(element, lit) {
  for (const row of element.children) row.classList.toggle("lit", Boolean(lit(row)));
}

/** Whether a line belongs to the function whose first line begins so. */
export function isIn(row, head) {
  for (let at = row; at; at = at.previousElementSibling) if (/^def /.test(at.textContent)) return at.textContent.startsWith(head);
  return false;
}

function coloured(row, line) {
  let at = 0;
  for (const found of line.matchAll(WORDS)) {
    row.append(line.slice(at, found.index));
    const part = document.createElement("span");
    part.className = CLASSES[found.slice(1).findIndex((group) => group !== undefined)];
    part.textContent = found[0];
    row.append(part);
    at = found.index + found[0].length;
  }
  row.append(line.slice(at) || (at ? "" : "\u200b"));
}
