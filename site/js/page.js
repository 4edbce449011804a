// What the pages share: tabs, links that are copied, and drawing anew for another width.
const PATIENCE = 1600, SETTLED = 120; // milliseconds

/** Fills `element` with a tab for each of {name, title}; choose(name) is called for a click, or an arrow key. */
export function tabs(element, entries, panel, choose) {
  element.append(...entries.map(({ name, title }) => {
    const tab = document.createElement("button");
    Object.assign(tab, { type: "button", id: `tab-${name}`, textContent: title });
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panel.id);
    tab.dataset.name = name;
    tab.addEventListener("click", () => choose(name));
    return tab;
  }));
  element.addEventListener("keydown", (event) => {
    const all = [...element.children], at = all.indexOf(document.activeElement), by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (at < 0 || !by) return;
    event.preventDefault();
    const next = all[(at + by + all.length) % all.length];
    next.focus();
    next.click();
  });
}

/** Says which tab is chosen. */
export function select(element, panel, name) {
  for (const tab of element.children) {
    const mine = tab.dataset.name === name;
    tab.setAttribute("aria-selected", mine);
    tab.tabIndex = mine ? 0 : -1;
    if (mine) panel.setAttribute("aria-labelledby", tab.id);
  }
}

/** Copies a text, and says so on the button for a while. failed: what it says where copying is not allowed. */
export async function copy(button, text, failed) {
  button.dataset.said ??= button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = failed;
  }
  setTimeout(() => (button.textContent = button.dataset.said), PATIENCE);
}

/** Calls `open` with a file that is chosen, or dropped on the page. */
export function onFile(input, open) {
  input.addEventListener("change", () => open(input.files[0]));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    open(event.dataTransfer.files[0]);
  });
}

/** Calls `draw` when the window has another width, once it keeps it. */
export function onWidth(draw) {
  let width = window.innerWidth, resizing = 0;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(resizing);
    resizing = setTimeout(draw, SETTLED);
  });
}

/** The page is drawn: for tests. */
export const ready = () => requestAnimationFrame(() => (document.documentElement.dataset.ready = "yes"));
