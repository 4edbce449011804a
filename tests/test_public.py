"""`import evenly` gives names that exist and have docstrings, and is fast."""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import evenly as ev

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

MOST = 0.9  # of the time that NumPy and scipy.sparse take; 0.66 to 0.74 when this was written
LATE = "numba", "cupy", "torch", "cuda.core", "typer", "rich", "matplotlib"
MEASURE = f"""
import json, sys, time
start = time.thread_time()
import numpy, scipy.sparse
theirs = time.thread_time() - start
import evenly
ours = time.thread_time() - start - theirs
print(json.dumps([ours, theirs, [m for m in {LATE!r} if m in sys.modules]]))
"""


@pytest.mark.parametrize("name", ev.__all__)
def test_a_public_name_exists_and_is_explained(name: str) -> None:
    assert (inspect.getdoc(getattr(ev, name)) or "").strip()
    said = re.compile(rf"\bev\.{re.escape(name)}\b")
    assert any(said.search(page.read_text()) for page in PAGES)


def test_a_name_that_is_none_is_answered_with_the_nearest() -> None:
    with pytest.raises(
        AttributeError, match=r"has no attribute 'armax'; did you mean ev\.argmax\?"
    ):
        _ = ev.armax
    assert not hasattr(ev, "nothing_like_it_at_all")


def test_what_is_imported_late_is_listed_too() -> None:
    assert set(ev.__all__) <= set(dir(ev))


def test_no_module_hides_a_name_that_is_imported_late() -> None:
    """An import of `evenly.NAME` would make ev.NAME that module."""
    assert [name for name in ev._LATE if importlib.util.find_spec(f"evenly.{name}")] == []


def test_public_names_are_listed_once_in_order() -> None:
    assert list(ev.__all__) == sorted(set(ev.__all__))


def test_the_reference_has_them_all_and_no_others() -> None:
    listed = re.findall(r"`ev\.(\w+)`", (ROOT / "docs" / "reference.md").read_text())
    assert sorted(listed) == sorted(ev.__all__)


def test_numbers_in_the_docs_are_those_of_the_code() -> None:
    from evenly.targets.cpu.driver import SMALL

    assert f"fewer than {SMALL:,} tiles and atoms" in (ROOT / "docs" / "targets.md").read_text()
    assert f"\nversion: {ev.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_importing_is_quick_and_brings_in_nothing_heavy(tmp_path: Path) -> None:
    """The time of the importing thread alone, from bytecode on disk, as every import but the first one.

    NumPy starts threads of OpenBLAS, whose time depends on what else runs. A busy machine makes imports slower, never
    quicker: so the least of several counts.
    """
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def measured() -> tuple[float, float]:
        done = subprocess.run(
            [sys.executable, "-c", MEASURE],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        ours, theirs, imported = json.loads(done.stdout)
        assert imported == []
        return ours, theirs

    measured()  # writes the bytecode
    ours, theirs = zip(*(measured() for _ in range(5)), strict=True)
    assert min(ours) <= MOST * min(theirs)
