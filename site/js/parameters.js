// Controls of parameters: sliders, switches for 0 and 1, and lists of words.

/** Fills `element` with a control for each of `parameters`; a choice is written into `chosen`, and `changed` is called. */
export function controlsOf(element, parameters, chosen, changed, prefix) {
  const key = prefix + parameters.map((p) => `${p.name}${p.most ?? ""}`).join();
  if (element.dataset.key !== key) element.replaceChildren(...parameters.map((p) => control(p, prefix)));
  element.dataset.key = key;
  parameters.forEach((p, i) => {
    const label = element.children[i], input = label.querySelector("input, select"), value = chosen[p.name] ?? p.start;
    const { values } = p;
    if (input.type === "checkbox") input.checked = Boolean(value);
    else input.value = values ? values.indexOf(value) : value;
    if (input.type === "range") {
      label.querySelector("output").textContent = value;
      input.setAttribute("aria-valuetext", String(value));
    }
    input.oninput = () => {
      const raw = input.type === "checkbox" ? Number(input.checked) : p.words ? input.value : Number(input.value);
      chosen[p.name] = values ? values[raw] : raw;
      changed();
    };
  });
}

function control(p, prefix) {
  const label = document.createElement("label"), said = p.title ?? p.name, id = `${prefix}-${p.name}`;
  if (p.words) {
    const select = document.createElement("select");
    select.id = id;
    select.append(...p.words.map((word) => new Option(word, word)));
    label.append(`${said} `, select);
    return label;
  }
  const input = document.createElement("input");
  input.id = id;
  if (p.values?.length === 2 && p.values[0] === 0) {
    input.type = "checkbox";
    label.className = "check";
    label.append(input, ` ${said}`);
    return label;
  }
  const out = document.createElement("output");
  out.htmlFor = id;
  input.type = "range";
  input.min = p.values ? 0 : p.least;
  input.max = p.values ? p.values.length - 1 : p.most;
  input.step = p.step ?? 1;
  label.append(`${said} `, out, input);
  return label;
}
