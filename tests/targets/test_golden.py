"""What is emitted is what the golden files say, and the page about one kernel shows one of them."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from tests.examples import pages
from tests.golden import files
from tests.golden.kernel import spmv

from evenly.schedules.nested import levels
from evenly.targets.gpu.engines import TABLE

PAGE = pages.ROOT / "docs" / "one_kernel.md"
SHOWN = "cuda/merge.cu"


@pytest.mark.parametrize("name", files.SCHEDULES)
def test_what_is_emitted_is_the_golden_file(name: str) -> None:
    found = files.difference(name)
    if found:
        pytest.fail(found, pytrace=False)


def test_every_engine_has_a_file_and_no_other_is_there() -> None:
    shown = files.SCHEDULES.values()
    assert {s.engine for schedule in shown for s in (schedule, levels(schedule)[0])} == set(TABLE)
    assert files.kept_names() == set(files.SCHEDULES)


def test_a_difference_is_a_diff_with_the_command_that_ends_it(tmp_path: Path) -> None:
    files.rewrite(tmp_path)
    assert files.difference(SHOWN, tmp_path) == ""
    kept = tmp_path / SHOWN
    kept.write_text(kept.read_text().replace("using pos = int;", "using pos = short;", 1))
    found = files.difference(SHOWN, tmp_path)
    assert "-using pos = short;\n+using pos = int;\n" in found
    assert found.splitlines()[0].endswith(": python -m tests.golden")
    kept.unlink()
    assert "+using pos = int;\n" in files.difference(SHOWN, tmp_path)


def test_rewriting_makes_all_files_and_removes_others(tmp_path: Path) -> None:
    (tmp_path / "cuda").mkdir()
    (tmp_path / "cuda" / "no_engine.cu").touch()
    files.rewrite(tmp_path)
    assert files.kept_names(tmp_path) == set(files.SCHEDULES)
    for name in files.SCHEDULES:
        assert (tmp_path / name).read_bytes() == (files.FOLDER / name).read_bytes()


def test_the_page_shows_the_kernel_and_all_of_its_golden_file() -> None:
    blocks = pages.blocks(PAGE)
    python, *_ = (b.text for b in blocks if b.language == "python")
    assert inspect.getsource(spmv.function) in python
    shown = "".join(b.text for b in blocks if b.language == "cpp")
    _, *golden = _lines((files.FOLDER / SHOWN).read_text())  # but for the line that says what it is
    assert _lines(shown) == golden


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]
