"""`evenly spmv --target simt`: orders of threads, reports, counters."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

import evenly as ev
from evenly.cli import problem
from evenly.targets.simt.compiler import compiler
from tests.cli.test_errors import refused

pytestmark = pytest.mark.simt


@ev.kernel
def shifted(A, x, y):
    for row in A.tiles():
        y[row] = 1 << (row + 60)


@pytest.mark.parametrize("layout", ["csr", "coo"])
@pytest.mark.parametrize("schedule", ["thread_mapped", "merge_path"])
def test_results_are_right(evenly, small, schedule, layout):
    options = ["--schedule", schedule, "--layout", layout, "--target", "simt", "--seed", 3]
    ran = evenly("spmv", small, *options, "--validate")
    assert (ran.status, ran.err) == (0, "")
    assert [line.partition(":")[0] for line in ran.lines] == [
        "Elapsed (ms)",
        "Matrix",
        "Dimensions",
        "Errors",
    ]
    assert ran.lines[-1] == "Errors: 0"


def test_what_it_finds_is_printed_whole(evenly, small, monkeypatch):
    monkeypatch.setattr(problem, "spmv_rows", shifted)
    options = ["--schedule", "thread_mapped", "--target", "simt", "--seed", 3]
    ran = evenly("spmv", small, *options)
    assert (ran.status, ran.out) == (1, "")
    first, *rest = ran.err.splitlines()
    assert re.fullmatch(r"evenly: a shift by .* \(kernel shifted_0, seed 3\)", first)
    assert re.match(r"  thread \d+ of block 0 at integers.cuh:\d+", rest[0])
    assert re.fullmatch(r" +Python: test_simt.py:\d+: y\[row\] = 1 << \(row \+ 60\)", rest[-1]), (
        ran.err
    )


def test_profile_prints_a_table_a_launch(evenly, small):
    ran = evenly("spmv", small, "--schedule", "merge_path", "--target", "simt", "--profile")
    assert (ran.status, ran.err) == (0, "")
    assert ran.lines[2] == "Dimensions: 40 x 30 (117)"
    assert ran.lines[3:5] == ["", "spmv_rows_0 under merge_path"]
    labels = [line.split("  ")[0] for line in ran.lines[5:] if not line.startswith("  ")]
    assert labels[:4] == ["warps", "idle lanes", "divergent branches", "global loads"]
    assert any(re.fullmatch(r"  sectors read +\d+  of 32 bytes, .*", x) for x in ran.lines)


def test_profile_names_the_schedule_that_was_chosen(evenly, small):
    ran = evenly("spmv", small, "--target", "simt", "--profile")
    chosen = re.match(r"evenly: auto chose (\w+) on simt: ", ran.err)
    assert chosen is not None
    assert f"spmv_rows_0 under {chosen[1]}" in ran.lines


def test_profile_of_all_schedules(evenly, small):
    ran = evenly("spmv", small, "--schedule", "all", "--target", "simt", "--profile")
    titles = [line for line in ran.lines if " under " in line]
    assert "spmv_rows_0 under thread_mapped" in titles
    assert "spmv_rows_0 under merge_path" in titles


@pytest.mark.parametrize(
    ("options", "line"),
    {
        "--profile": "--profile: expected --target simt, which counts and can be repeated, got --target auto",
        "--profile --target cpu": "--profile: expected --target simt, which counts and can be repeated, got --target cpu",
        "--seed 3": "--seed: expected --target simt, which counts and can be repeated, got --target auto",
        "--seed=-1 --target simt": "--seed: expected 0 or more, got -1",
        "--seed x --target simt": "invalid value for '--seed'",
    }.items(),
)
def test_options(evenly, small, options, line):
    refused(evenly("spmv", small, *options.split()), line)


def test_help_names_them(evenly):
    out = evenly("spmv", "--help").out
    for words in ("--seed", "--profile", "simt (cuda's code", "on python and simt 1"):
        assert words in out
    assert "<bool>  Print" not in out


def test_info_names_the_compiler(evenly):
    path, version = compiler()
    line = next(x for x in evenly("info").lines if x.startswith("  simt "))
    assert (
        line == f"  simt    works: cuda's code on the CPU, checked; compiled by {path}, {version}"
    )


@pytest.mark.parametrize("given", ["/nonexistent", "/bin/false", "silent"])
def test_no_compiler_is_one_line(small, tmp_path, given):
    if given == "silent":
        script = tmp_path / given
        script.write_text("#!/bin/sh\n")
        script.chmod(0o755)
        given = str(script)
    line = (
        f"evenly: target 'simt': no C++ compiler (EVENLY_CXX is {given}); to get it: "
        "install g++ or clang++ (Debian: apt install g++), or name one in EVENLY_CXX\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "evenly.cli", "spmv", str(small), "--target", "simt"],
        env=os.environ | {"EVENLY_CXX": given},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)
