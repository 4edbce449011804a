// Sliders for the parameters of a schedule or a layout.

/** Fills `element` with a slider for each of `parameters`; a move writes into `chosen` and calls `changed`. */
export function controlsOf(element, parameters, chosen, changed, prefix) {
  const key = parameters.map((p) => `${p.name}${p.most ?? ""}`).join();
  if (element.dataset.key !== `${prefix}${key}`) build(element, parameters, prefix);
  element.dataset.key = `${prefix}${key}`;
  parameters.forEach((p, i) => {
    const input = element.querySelectorAll("input")[i], value = chosen[p.name] ?? p.start;
    const { values } = p;
    if (input.type === "checkbox") input.checked = Boolean(value);
    else input.value = values ? values.indexOf(value) : value;
    const said = element.querySelectorAll("output")[i];
    said.textContent = input.type === "checkbox" ? "" : value;
    input.setAttribute("aria-valuetext", String(value));
    input.oninput = () => {
      const raw = input.type === "checkbox" ? Number(input.checked) : Number(input.value);
      chosen[p.name] = values ? values[raw] : raw;
      changed();
    };
  });
}

function build(element, parameters, prefix) {
  element.replaceChildren(...parameters.map((p) => {
    const label = document.createElement("label"), input = document.createElement("input"), out = document.createElement("output");
    input.id = `${prefix}-${p.name}`;
    out.htmlFor = input.id;
    const isSwitch = p.values?.length === 2 && p.values[0] === 0;
    input.type = isSwitch ? "checkbox" : "range";
    if (isSwitch) label.className = "check";
    else {
      input.min = p.values ? 0 : p.least;
      input.max = p.values ? p.values.length - 1 : p.most;
      input.step = p.step ?? 1;
    }
    label.append(...(isSwitch ? [input, ` ${p.name}`, out] : [`${p.name} `, out, input]));
    return label;
  }));
}
