"""What is emitted is what the golden files say."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.golden import files

from evenly.schedules.contract import ENGINES

SHOWN = "cuda/merge.cu"


@pytest.mark.parametrize("name", files.SCHEDULES)
def test_what_is_emitted_is_the_golden_file(name: str) -> None:
    found = files.difference(name)
    if found:
        pytest.fail(found, pytrace=False)


def test_every_engine_has_a_file_and_no_other_is_there() -> None:
    assert {s.engine for s in files.SCHEDULES.values()} == set(ENGINES)
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
