// The page that runs Python: programs to begin with, an editor, and a worker that runs what is in it.
import { ready } from "./page.js";

const $$ = (id) => document.getElementById(id);
const { programs, missing } = await (await fetch("python.json")).json();
let worker = null, running = false;

function start() {
  worker = new Worker("js/python_worker.js", { type: "module" });
  worker.onmessage = ({ data: { kind, text } }) => {
    if (kind === "ready") state(running ? "Running …" : `${text} is ready.`);
    else if (kind === "out") $$("output").append(`${text}\n`);
    else {
      if (text) $$("output").append(`${text}\n`);
      finished(kind === "done" ? "Done." : "It failed.");
    }
  };
  worker.onerror = (event) => finished(`Python could not be loaded: ${event.message ?? "see the console"}`);
}

function run() {
  if (!worker) start();
  $$("output").textContent = "";
  running = true;
  state("Python is being loaded …");
  buttons();
  worker.postMessage($$("program").value);
}

function stop() {
  worker?.terminate();
  worker = null;
  finished("Stopped.");
}

function finished(text) {
  running = false;
  state(text);
  buttons();
}

function buttons() {
  $$("run").disabled = running || missing.length > 0;
  $$("stop").disabled = !running;
}

const state = (text) => ($$("state").textContent = text);

$$("which").append(...Object.keys(programs).map((name) => new Option(programs[name].split("\n")[0].replace(/^# /, "").split(":")[0], name)));
$$("which").addEventListener("change", () => ($$("program").value = programs[$$("which").value]));
$$("program").value = programs[$$("which").value];
$$("run").addEventListener("click", run);
$$("stop").addEventListener("click", stop);
$$("program").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !$$("run").disabled) run();
});
$$("missing").hidden = !missing.length;
if (missing.length) $$("missing").textContent = `Nothing can be run here. What is missing: ${missing.join("; ")}.`;
buttons();
ready();
