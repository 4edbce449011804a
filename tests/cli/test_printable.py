"""Names and contents of files are printed as plain text: no control character reaches a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evenly.bench import matrices
from evenly.errors import one_line, printable, shown

NAMES = ("a\x1b[2Jb", "a\udcffb", "a\u202eb", "a\x07\x9bb")


def test_escaping() -> None:
    assert printable("é a\x1b\n\udcff\u202e") == "é a\\x1b\\n\\udcff\\u202e"
    assert one_line(" a\n\x1bb ") == "a \\x1bb"
    assert shown("\x1b" + "a" * 99) == "'\\x1b" + "a" * 59 + "'..."


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", ["spmv", "tune", "bench", "tuning"])
def test_names_of_files(evenly, tmp_path: Path, small, winners_file, name, command) -> None:
    folder = tmp_path / name
    folder.mkdir()
    path, missing = folder / f"{name}.mtx", folder / "missing"
    path.write_bytes(small.read_bytes())
    ways = {
        "spmv": [
            ("spmv", path, "--target", "python", "--csv", folder / "t.csv"),
            ("spmv", missing),
        ],
        "tune": [("tune", missing), ("tune", folder), ("tune", path, "--target", "python")],
        "bench": [("bench", "spmv", missing), ("bench", "replot", missing, tmp_path)],
        "tuning": [
            ("tuning", "export", path),
            ("tuning", "import", path),
            ("tuning", "import", missing),
        ],
    }[command]
    for arguments in ways:
        ran = evenly(*arguments)
        assert ran.status in (0, 2)
        for line in (ran.out + ran.err).splitlines():
            assert line.isprintable(), line
    if command == "spmv":
        (folder / "t.csv").read_text(encoding="utf-8").encode("ascii")
    assert matrices.name_of(path, tmp_path).isprintable()


def test_an_encoding_that_has_few_letters(tmp_path: Path, small: Path) -> None:
    path = tmp_path / "é\udcff.mtx"
    path.write_bytes(small.read_bytes())
    command = [sys.executable, "-m", "evenly.cli", "spmv", path, "--target", "python"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ran = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert b"Matrix: \\xe9\\udcff.mtx\n" in ran.stdout


@pytest.mark.parametrize("times", [{"MergePath()": 10**399}, {"\x1b[2J": 1}])
def test_a_file_of_winners_that_somebody_wrote(evenly, small, winners_file: Path, times) -> None:
    assert evenly("tune", small, "--target", "cpu", "--schedule", "merge_path").status == 0
    header, line = winners_file.read_text().splitlines()
    bad = json.dumps(json.loads(line) | {"times": times})
    winners_file.write_text(f"{header}\n{bad}\n")
    for arguments in (("tuning", "list"), ("spmv", small, "--target", "cpu")):
        ran = evenly(*arguments)
        assert ran.status == 0
        assert "1 line left out, which cannot be read (line 2: " in ran.err
        assert (ran.out + ran.err).replace("\n", "").isprintable()
        winners_file.write_text(f"{header}\n{bad}\n\n")  # another file: it is said again
