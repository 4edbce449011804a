"""The page that runs Python in the browser: what it needs, its programs, and, where Pyodide is, a run.

EVENLY_PYODIDE=folder, an unpacked release of Pyodide with NumPy, runs the programs in Chromium, too.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.site.browser import FOUND, Browser
from tests.site.test_explorer import AXE, serving, text
from tests.site.test_explorer import browser as browser
from tests.site.test_explorer import started as started
from tests.targets.test_without_numba import HIDDEN

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = sorted((ROOT / "site" / "programs").glob("*.py"))
PYODIDE = os.environ.get("EVENLY_PYODIDE")
chromium = pytest.mark.skipif(FOUND is None, reason="no Chromium here, to look at the site with")


def printed(program: Path) -> str:
    """What a program prints where nothing but NumPy is installed."""
    hidden = f"sys.modules.update(dict.fromkeys({HIDDEN})); runpy.run_path(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", f"import runpy, sys; {hidden}", program],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_programs_need_nothing_but_numpy(program: Path) -> None:
    assert "atoms of" in printed(program)


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.delenv("PYODIDE", raising=False)
    monkeypatch.syspath_prepend(ROOT / "site")
    return importlib.import_module("in_browser")


def test_what_is_missing_is_said(
    part: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part.write(tmp_path)
    held = json.loads((tmp_path / "python.json").read_text())
    assert set(held["programs"]) == {program.stem for program in PROGRAMS}
    assert held["missing"] == [
        "Pyodide: build the site with PYODIDE=folder, an unpacked release of it"
    ]
    folder = tmp_path / "pyodide-1"
    folder.mkdir()
    lock = {"packages": {"numpy": {"file_name": "numpy-9.whl"}}}
    (folder / "pyodide-lock.json").write_text(json.dumps(lock))
    (folder / "pyodide.mjs").touch()
    monkeypatch.setenv("PYODIDE", str(folder))
    part.write(tmp_path)
    assert json.loads((tmp_path / "python.json").read_text())["missing"] == [
        f"{name}, which pyodide-1 lacks"
        for name in ("pyodide.asm.wasm", "python_stdlib.zip", "pyodide.asm.mjs", "numpy-9.whl")
    ]
    assert not (tmp_path / "pyodide").exists()


def test_what_is_there_is_served_with_evenly(
    part: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, names = tmp_path / "pyodide-1", ("pyodide.asm.wasm", "python_stdlib.zip", "pyodide.mjs")
    folder.mkdir()
    for name in *names, "pyodide.asm.js", "numpy-9.whl", "scipy-9.whl":
        (folder / name).touch()
    lock = {"packages": {"numpy": {"file_name": "numpy-9.whl"}}}
    (folder / "pyodide-lock.json").write_text(json.dumps(lock))
    monkeypatch.setenv("PYODIDE", str(folder))
    part.write(tmp_path)
    assert json.loads((tmp_path / "python.json").read_text())["missing"] == []
    assert {path.name for path in (tmp_path / "pyodide").iterdir()} == {
        *names,
        "pyodide.asm.js",
        "numpy-9.whl",
        "pyodide-lock.json",
        "evenly.zip",
    }
    with zipfile.ZipFile(tmp_path / "pyodide" / "evenly.zip") as packed:
        packed.extractall(tmp_path / "lib")
    run = [sys.executable, "-c", "import evenly; print(evenly.__file__)"]
    done = subprocess.run(
        run, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(tmp_path / "lib")}
    )
    assert done.stdout.strip() == str(tmp_path / "lib" / "evenly" / "__init__.py")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the page, of a site without Pyodide."""
    with serving(tmp_path_factory.mktemp("site"), "--explorer") as address:
        yield f"{address}/python.html"


@chromium
@pytest.mark.skipif("PYODIDE" in os.environ, reason="PYODIDE is set: the page has it")
def test_without_pyodide_the_page_says_so(page: str, browser: Browser) -> None:
    for width in 390, 1400:
        browser.size(width)
        browser.open(page)
        assert "What is missing: Pyodide: build the site with PYODIDE=" in text(browser, "#missing")
        assert browser.run("document.getElementById('run').disabled")
        assert not browser.run(
            "[...document.querySelectorAll('nav a')].some(a => a.href === location.href)"
        )
        assert "spmv" in browser.run("document.getElementById('program').value")
        assert browser.run("document.documentElement.scrollWidth") <= width
        if AXE:
            browser.run(Path(AXE).read_text() + ";0")
            assert browser.run("axe.run().then(r => r.violations.map(v => v.id))") == []


@chromium
@pytest.mark.skipif(PYODIDE is None, reason="EVENLY_PYODIDE names no release of Pyodide")
def test_programs_print_what_they_print_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, browser: Browser
) -> None:
    monkeypatch.setenv("PYODIDE", str(PYODIDE))
    with serving(tmp_path, "--explorer") as address:
        browser.open(f"{address}/python.html")
        for program in PROGRAMS:
            browser.run(
                f"(() => {{ const w = document.getElementById('which'); w.value = {program.stem!r};"
                " w.dispatchEvent(new Event('change')); document.getElementById('run').click(); })()"
            )
            browser.wait("/^(Done|It failed)/.test(document.getElementById('state').textContent)")
            assert text(browser, "#output") == printed(program)
