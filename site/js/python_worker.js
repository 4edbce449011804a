// Python in a worker of its own, so that the page stays alive, and can stop it.
import { loadPyodide } from "../pyodide/pyodide.mjs";

const say = (kind, text) => postMessage({ kind, text });
let runs = 0;

const ready = (async () => {
  const python = await loadPyodide({ stdout: (text) => say("out", text), stderr: (text) => say("out", text) });
  await python.loadPackage("numpy", { messageCallback: () => {} });
  const evenly = await fetch(new URL("../pyodide/evenly.zip", import.meta.url));
  python.unpackArchive(await evenly.arrayBuffer(), "zip", { extractDir: "/lib/evenly" });
  python.runPython("import sys; sys.path.insert(0, '/lib/evenly')");
  say("ready", python.runPython("f'Python {sys.version.split()[0]}'"));
  return python;
})();

ready.catch((error) => say("failed", String(error)));

onmessage = async ({ data }) => {
  const python = await ready, file = `/home/pyodide/program_${++runs}.py`; // evenly reads a kernel's source in its file
  python.FS.writeFile(file, data);
  try {
    await python.runPythonAsync(`import runpy; _ = runpy.run_path(${JSON.stringify(file)}, run_name="__main__")`);
    say("done", "");
  } catch (error) {
    say("failed", shortened(String(error.message ?? error), file));
  }
};

/** A traceback from the program's own lines on. */
function shortened(text, file) {
  const at = text.indexOf(`  File "${file}"`);
  return at < 0 ? text : `Traceback (most recent call last):\n${text.slice(at)}`;
}
