"""`evenly trace`."""

from __future__ import annotations

import gzip
import json

import evenly as ev
from evenly.cli.spmv import read
from evenly.layouts import convert


def test_it_writes_a_trace(evenly, small, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = evenly("trace", small, "--schedule", "lrb", "--layout", "ell")
    assert (ran.status, ran.err) == (0, "")
    assert ran.lines == [
        "Matrix: small.mtx",
        "Dimensions: 40 x 30 (117)",
        f"Schedule: {ev.Lrb()}",
        "Trace: small-lrb.json.gz (to see it, drop it on the site's explorer: `make site-serve`)",
    ]
    (phase,) = json.loads(gzip.decompress((tmp_path / "small-lrb.json.gz").read_bytes()))["phases"]
    A = convert(read(str(small), "float32"), "ell")
    assert (phase["kind"], len(phase["worker"])) == ("Ell", A.num_atoms)


def test_a_partition_is_traced(evenly, small, tmp_path) -> None:
    ran = evenly("trace", small, "--processors", 3, "--output", tmp_path / "a.json")
    assert (ran.status, ran.err) == (0, "")
    (phase,) = json.loads((tmp_path / "a.json").read_text())["phases"]
    assert (phase["processors"], set(phase["worker"])) == (3, {0, 1, 2})


def test_what_is_refused(evenly, small, tmp_path) -> None:
    ran = evenly("trace", small, "--schedule", "all")
    assert (ran.status, ran.out) == (2, "")
    assert "--schedule: expected one of block_mapped" in ran.err
    ran = evenly("trace", small, "--processors", 0)
    assert (ran.status, ran.out) == (2, "")
    assert "--processors: expected a number of processors, 1 or more, got 0" in ran.err
    ran = evenly("trace", small, "--output", tmp_path / "a.txt")
    assert (ran.status, ran.out) == (2, "")
    assert "--output: expected a file that ends in .json or .json.gz" in ran.err
