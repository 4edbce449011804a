// A breadth-first search by its levels: the work of each, and how idle the schedule leaves threads at it.
import { balance, percent } from "./balance.js";
import { subset } from "./layouts.js";
import { launch, schedule } from "./schedules.js";

const MOST = 48; // levels that are drawn

/** Fills `element` with a button for each level, as tall as its atoms; `choose(level)` is called for a press. */
export function showLevels(element, pattern, levels, now, chosen, choose) {
  const works = levels.slice(0, MOST).map((rows) => subset(pattern, rows));
  const most = works.reduce((top, laid) => Math.max(top, laid.atoms), 1);
  const buttons = works.map((laid, level) => {
    const idle = percent(balance(launch(schedule(chosen.name, chosen), laid)).idle);
    const button = document.createElement("button"), bar = document.createElement("span"), said = document.createElement("small");
    button.type = "button";
    button.setAttribute("aria-pressed", level === now);
    button.setAttribute("aria-label", `level ${level}: ${laid.tiles} tiles, ${laid.atoms} atoms, ${idle} idle`);
    button.title = button.getAttribute("aria-label");
    bar.style.height = `${2 + (46 * laid.atoms) / most}px`;
    said.textContent = idle;
    button.append(bar, said);
    button.addEventListener("click", () => choose(level));
    return button;
  });
  const caption = document.createElement("p");
  const more = levels.length > MOST ? `; the first ${MOST} of ${levels.length}` : "";
  caption.textContent = `The atoms of each level, and how idle ${chosen.name} leaves the threads at it${more}.`;
  const held = document.createElement("div");
  held.append(...buttons);
  element.replaceChildren(caption, held);
}
