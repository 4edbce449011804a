"""`evenly tune` and `evenly tuning`."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest

import evenly as ev
from evenly import targets
from evenly.schedules import TABLE


@pytest.fixture(autouse=True)
def quiet_machine(monkeypatch) -> None:
    monkeypatch.setattr("evenly.tuning.tune.busy_machine", lambda: "")


def test_a_busy_machine_is_told(evenly, small, monkeypatch) -> None:
    monkeypatch.setattr("evenly.tuning.tune.busy_machine", lambda: "This machine was busy.")
    ran = evenly("tune", small, "--target", "cpu", "--schedule", "merge_path", "--seconds", 1)
    assert (ran.lines[-1], ran.err) == ("  not remembered", "evenly: This machine was busy.\n")


def test_tune_prints_the_times_and_remembers(evenly, small, sure, winners_file) -> None:
    ran = evenly(
        "tune",
        small,
        "--target",
        "cpu",
        "--schedule",
        "thread_mapped",
        "--schedule",
        "merge_path",
        "--seconds",
        1,
    )
    assert (ran.status, ran.err) == (0, "")
    assert ran.lines[:2] == ["Matrix: small.mtx", "Dimensions: 40 x 30 (117)"]
    assert ran.lines[2].startswith("spmv_rows ")
    assert ran.lines[3].startswith("  40 tiles, 117 atoms, longest ")
    assert {line[4:].split("(")[0] for line in ran.lines[5:7]} == {"ThreadMapped", "MergePath"}
    assert ran.lines[-1] == f"  remembered in {winners_file}"


def test_spmv_takes_the_winner_and_says_so(evenly, small, winners_file) -> None:
    evenly("tune", small, "--target", "cpu", "--schedule", "work_oriented", "--seconds", 1)
    ran = evenly("spmv", small, "--target", "cpu", "--validate", "--repeat", 1)
    assert ran.status == 0
    assert ran.lines[-1] == "Errors: 0"
    assert ran.err == (
        "evenly: auto chose work_oriented on cpu: the fastest that `evenly tune` measured, as "
        "WorkOriented(block=256, items=8)\n"
    )


@pytest.mark.parametrize("layout", ["csc", "coo", "ell"])
def test_other_layouts(evenly, small, winners_file, layout) -> None:
    line = (
        "tune",
        small,
        "--target",
        "cpu",
        "--layout",
        layout,
        "--schedule",
        "merge_path",
        "--seconds",
        1,
    )
    ran = evenly(*line)
    assert (ran.status, ran.err) == (0, "")
    assert (
        evenly("spmv", small, "--target", "cpu", "--layout", layout, "--validate").lines[-1]
        == "Errors: 0"
    )


def test_measured_and_not_remembered(evenly, small, winners_file) -> None:
    ran = evenly("tune", small, "--target", "cpu", "--schedule", "merge_path", "--no-save")
    assert ran.lines[-1] == "  not remembered"
    assert not winners_file.exists()


BAD = {
    "--target simt": "--target: expected one of auto, cpu, cuda, got 'simt'",
    "--target cup": f"--target: expected one of {', '.join(sorted(['auto', *targets.TABLE]))}, got 'cup'; hint: did you mean 'cpu'?",
    "--schedule merge": f"--schedule: expected one of {', '.join(sorted(TABLE))}, got 'merge'",
    "--schedule static_list": "--schedule: expected one of ",
    "--seconds 0": "--seconds: expected 1 or more, got 0",
    "--dtype int8": "--dtype: expected one of bfloat16, complex128, complex64, float16, float32, float64, got 'int8'",
}


@pytest.mark.parametrize("options", BAD)
def test_bad_input(evenly, small, options) -> None:
    ran = evenly("tune", small, *options.split())
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"evenly: {BAD[options]}")
    assert ran.err.count("\n") == 1


def test_a_file_that_is_not_there(evenly, tmp_path) -> None:
    ran = evenly("tune", tmp_path / "missing.mtx")
    assert (ran.status, ran.out) == (2, "")
    assert "expected a Matrix Market file, got no such file" in ran.err


# ---- what is remembered ------------------------------------------------------------------------------------
def test_list_export_clear_import(evenly, small, winners_file, tmp_path) -> None:
    assert evenly("tuning", "list").out == f"0 in {winners_file}\n"
    evenly("tune", small, "--target", "cpu", "--schedule", "merge_path", "--seconds", 1)
    ran = evenly("tuning", "list")
    assert re.fullmatch(
        rf"spmv_rows \w+ on cpu, for plans: {re.escape(str(ev.MergePath()))} \([\d.,]+ us, \d{{4}}-\d\d-\d\d\)",
        ran.lines[0],
    )
    assert ran.lines[1].startswith("  40 tiles, 117 atoms, longest ")
    assert ran.lines[3].endswith(f", evenly {ev.__version__}")
    assert ran.lines[-1] == f"1 in {winners_file}"
    shared = tmp_path / "shared.jsonl"
    assert evenly("tuning", "export", shared).out == f"1 written to {shared}\n"
    assert json.loads(shared.read_text().splitlines()[1])["schedule"] == {
        "MergePath": dataclasses.asdict(ev.MergePath())
    }
    assert evenly("tuning", "clear").out == "1 forgotten\n"
    assert not winners_file.exists()
    assert evenly("tuning", "clear").out == "0 forgotten\n"
    assert evenly("tuning", "import", shared).out == f"1 read from {shared}\n"
    assert evenly("tuning", "list").lines[-1] == f"1 in {winners_file}"


def test_a_broken_line_is_one_warning(evenly, small, winners_file) -> None:
    evenly("tune", small, "--target", "cpu", "--schedule", "merge_path", "--seconds", 1)
    with winners_file.open("a") as file:
        file.write("junk\n")
    ran = evenly("tuning", "list")
    assert (ran.status, ran.lines[-1]) == (0, f"1 in {winners_file}")
    assert (
        ran.err
        == f"evenly: {winners_file}: 1 line left out, which cannot be read (line 3: no JSON)\n"
    )
    ran = evenly("tune", small, "--target", "cpu", "--schedule", "merge_path", "--seconds", 1)
    assert (
        ran.err
        == f"evenly: {winners_file}: 1 line left out, which cannot be read (line 3: no JSON)\n"
    )
    assert evenly("tuning", "list").err == ""


def test_what_cannot_be_read_or_written(evenly, winners_file, tmp_path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("hello\n")
    ran = evenly("tuning", "import", other)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == (
        f"evenly: {other}: expected measured winners, got line 1: no JSON; "
        "hint: `evenly tuning export PATH` writes one\n"
    )
    missing = tmp_path / "missing" / "file"
    for command in ("import", "export"):
        ran = evenly("tuning", command, missing)
        assert (ran.status, ran.err) == (2, f"evenly: {missing}: No such file or directory\n")


@pytest.mark.parametrize("command", ["list", "clear", "export x", "import x"])
def test_switched_off(evenly, tmp_path, monkeypatch, command) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").write_text("")
    ran = evenly("tuning", *command.split())
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == "evenly: EVENLY_TUNING: expected a file of measured winners, got 'off'\n"


@pytest.mark.parametrize(
    "line", ["tune", "tuning", "tuning list", "tuning export", "tuning import", "tuning clear"]
)
def test_help(evenly, line) -> None:
    ran = evenly(*line.split(), "--help")
    assert (ran.status, ran.err) == (0, "")
    assert f"evenly {line}" in ran.out
    assert max(map(len, ran.lines)) <= 80


def test_tuning_alone_says_what_there_is(evenly) -> None:
    ran = evenly("tuning")
    assert ran.status == 0
    for command in ("list", "export", "import", "clear"):
        assert command in ran.out
