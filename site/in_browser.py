"""What the page python.html needs to run evenly in the reader's browser: Pyodide, NumPy for it, evenly, programs.

Pyodide is served with the site if it is there when the site is built: PYODIDE is the folder of an unpacked release
(https://github.com/pyodide/pyodide/releases, pyodide-VERSION.tar.bz2), which has NumPy, too; npm's package lacks it.
Where something is missing, no page links to this one, and it says what. Nothing is loaded from elsewhere.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LOCK = "pyodide-lock.json"
NEEDED = (LOCK, "pyodide.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
CODE = ("pyodide.asm.mjs", "pyodide.asm.js")  # new and old releases have one of them
SUFFIXES = (".py", ".toml")  # of evenly, what target python reads


def write(out: Path) -> None:
    """Write python.json, which the page reads, and, if all that is needed is there, what it needs."""
    folder = given()
    files, missing = found(folder)
    programs = {
        path.stem: path.read_text() for path in sorted((ROOT / "site" / "programs").glob("*.py"))
    }
    held: dict[str, Any] = {"programs": programs, "missing": missing}
    (out / "python.json").write_text(json.dumps(held))
    if missing or folder is None:
        return
    (out / "pyodide").mkdir(exist_ok=True)
    for name in files:
        shutil.copy(folder / name, out / "pyodide" / name)
    with zipfile.ZipFile(out / "pyodide" / "evenly.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted((ROOT / "src" / "evenly").rglob("*")):
            if path.suffix in SUFFIXES:
                packed.write(path, path.relative_to(ROOT / "src"))


def given() -> Path | None:
    """Return the folder of Pyodide that the environment names."""
    name = os.environ.get("PYODIDE", "")
    return Path(name) if name else None


def found(folder: Path | None) -> tuple[list[str], list[str]]:
    """Return the files of Pyodide that the page needs, and what is missing of them, in words."""
    if folder is None:
        return [], ["Pyodide: build the site with PYODIDE=folder, an unpacked release of it"]
    missing = [name for name in NEEDED if not (folder / name).is_file()]
    code = [name for name in CODE if (folder / name).is_file()]
    if not code:
        missing.append(CODE[0])
    wheel = None if LOCK in missing else wheel_of(folder / LOCK, "numpy")
    if wheel is None or not (folder / wheel).is_file():
        missing.append(wheel or "numpy")
    files = [*NEEDED, *code, *([wheel] if wheel else [])]
    return files, [f"{name}, which {folder.name} lacks" for name in missing]


def wheel_of(lock: Path, name: str) -> str | None:
    """Return the file name of a package of Pyodide's."""
    entry = json.loads(lock.read_text())["packages"].get(name)
    return str(entry["file_name"]) if entry else None
