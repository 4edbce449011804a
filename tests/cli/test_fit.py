"""`evenly fit`, with a clock that shows what the model predicts by numbers that the fit has to find."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evenly.cache import directory
from evenly.cli import fit_run
from evenly.errors import UnavailableError
from evenly.fitting import cases
from evenly.fitting.tasks import SPMVS
from evenly.fitting.vector import logs, with_logs
from evenly.gpus import numbers
from evenly.gpus.gpu import Gpu
from evenly.gpus.numbers import every_row, for_gpu, measured
from tests.fitting.synthetic import Clockwork, times

GPU = Gpu(60, 1536, 24, 102_400, "NVIDIA X1", 32_000_000, 600_000, 2_000)
SHORT = "--largest", 2000, "--seed", 3


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cache of the test's own, no other processes, few steps, a few matrices."""

    @contextmanager
    def serial() -> Iterator[object]:
        yield map

    monkeypatch.setenv("EVENLY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(fit_run, "workers", serial)
    monkeypatch.setattr(fit_run, "STEPS", 2)
    monkeypatch.setattr("evenly.fitting.report.UNSEEN_STEPS", 1)
    monkeypatch.setattr(fit_run.measuring, "compile_all", lambda mapped, architecture: [])
    drawn = fit_run.measuring.drawn
    monkeypatch.setattr(fit_run.measuring, "drawn", lambda *given: [*drawn(*given)][:4:2])
    monkeypatch.setattr(fit_run.measuring, "TASKS", SPMVS)
    for known in (numbers.of_user, numbers.for_gpu):
        known.cache_clear()
    yield
    for known in (numbers.of_user, numbers.for_gpu):
        known.cache_clear()


@pytest.fixture
def truth(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """The true numbers of GPU: owned tiles start and walk four times slower than its properties say."""
    before = every_row(GPU)
    vector = logs(before)
    found = with_logs(before, vector)
    for table in ("groups", "runs"):
        for key in ("launch", "warp", "item", "wide", "gathers", "round"):
            found[table][key] *= 4
    monkeypatch.setattr(fit_run, "OnGpu", lambda: Clockwork(GPU, found))
    return found


def test_a_fit_is_written_and_auto_uses_it(evenly, truth, tmp_path) -> None:
    before = for_gpu(GPU)
    assert before["origin"].startswith("scaled from")
    ran = evenly("fit", *SHORT, "--times", tmp_path / "times.csv.gz")
    assert (ran.status, ran.err) == (0, "")
    assert ran.lines[0] == "NVIDIA X1: 60 multiprocessors, 31 MiB of L2, 0.60 TB/s"
    assert ran.lines[1].startswith("what work costs until now: scaled from NVIDIA ")
    assert re.search(r"measured in \d+ s: 4 cases, a kernel on one of 2 matrices each", ran.out)
    assert re.search(r"^  rates: memory \d+ -> ", ran.out.replace("_", ""), re.MULTILINE)
    assert "merge_path block=256, items=3: launch " in ran.out
    cells = ran.lines[-2].split()
    assert cells[:2] == ["all", "4"]
    then, now, new = (float(cells[n]) for n in (2, 4, 6))
    assert then < new <= 1 and now > (1 + then) / 2
    assert ran.lines[-1] == f"written: {directory('gpus') / 'nvidia-x1.toml'}"
    after = for_gpu(GPU)
    assert after["origin"] == "measured on NVIDIA X1"
    assert after["groups"]["launch"] > 2 * before["groups"]["launch"]
    # The same from the file of times, without a GPU.
    again = evenly("fit", "--from", tmp_path / "times.csv.gz", "--out", tmp_path / "x1.toml")
    assert again.status == 0
    assert again.lines[-1].startswith(("written: ", "not written: "))


def test_a_report_of_losses_fits_nothing(evenly, truth, tmp_path, monkeypatch) -> None:
    assert evenly("fit", *SHORT, "--times", tmp_path / "times.csv.gz").status == 0
    numbers.of_user.cache_clear()
    monkeypatch.setattr(fit_run, "Fit", None)
    ran = evenly("fit", "--report", "--from", tmp_path / "times.csv.gz")
    assert (ran.status, ran.err) == (0, "")
    assert ran.lines[0].split()[0] == "why"
    assert any(line.strip().startswith("all 4 choices") for line in ran.lines)
    assert sum("spmv float" in line for line in ran.lines) == 4
    ran = evenly("fit", "--report")
    assert (ran.status, ran.err) == (2, "evenly: --report: expected times, by --from, got none\n")


def test_what_chooses_worse_is_not_written(evenly, monkeypatch, truth) -> None:
    def astray(fit, start, cases, steps):
        return with_logs(start, logs(truth) + np.linspace(-2, 2, len(logs(truth))))

    monkeypatch.setattr(fit_run, "OnGpu", lambda: Clockwork(GPU, every_row(GPU)))
    monkeypatch.setattr(fit_run.Fit, "fitted", astray)
    ran = evenly("fit", *SHORT)
    assert ran.status == 0
    assert ran.lines[-1].startswith(
        "not written: for matrices that a fit has not seen it chooses worse (0."
    )
    assert ran.lines[-1].endswith(" than what was there (1.000)")
    assert not directory("gpus").exists()


def test_without_a_gpu_there_is_one_line(evenly, monkeypatch) -> None:
    def missing() -> None:
        raise UnavailableError("target 'cuda'", "there is no GPU", "use one")

    monkeypatch.setattr(fit_run, "OnGpu", missing)
    ran = evenly("fit")
    assert (ran.status, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert "there is no GPU" in ran.err


@pytest.mark.parametrize("at", ["times", "fitted", "keep"])
def test_ctrl_c_leaves_no_half_file(evenly, truth, monkeypatch, tmp_path, at) -> None:
    def stop(*given: object) -> None:
        raise KeyboardInterrupt

    place = {"times": Clockwork, "fitted": fit_run.Fit, "keep": fit_run.numbers}[at]
    monkeypatch.setattr(place, at, stop)
    ran = evenly("fit", *SHORT, "--times", tmp_path / "times.csv.gz")
    assert ran.status == 130
    assert [p for p in (tmp_path / "cache").rglob("*") if "gpus" in p.parts and p.is_file()] == []
    assert (tmp_path / "times.csv.gz").exists() == (at != "times")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--seconds", 1), "--seconds: expected 5 or more, got 1"),
        (("--seed", -1), "--seed: expected 0 or more, got -1"),
        (("--largest", 10), "--largest: expected 1000 to 1000000000, got 10"),
        (("--from", "nosuch.csv.gz"), "nosuch.csv.gz: No such file or directory"),
    ],
)
def test_bad_options(evenly, given, said) -> None:
    ran = evenly("fit", *given)
    assert (ran.status, ran.err) == (2, f"evenly: {said}\n")


def test_times_of_two_gpus(evenly, truth, tmp_path) -> None:
    paths = [tmp_path / name for name in ("x1.csv.gz", "h200.csv.gz")]
    for gpu, path in zip((GPU, measured()), paths, strict=True):
        (case, *_) = times(every_row(gpu))
        path.write_bytes(cases.written([replace(case, gpu=gpu)]))
    ran = evenly("fit", "--from", paths[0], "--from", paths[1])
    said = "--from: expected times of one GPU, got NVIDIA H200, NVIDIA X1"
    assert (ran.status, ran.err) == (2, f"evenly: {said}\n")


def test_a_place_that_cannot_be_written(evenly, truth, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    ran = evenly("fit", *SHORT, "--times", tmp_path / "file" / "times.csv.gz")
    assert ran.status == 2
    assert "--times: expected a file that can be written, got " in ran.err


def test_small_memory_bounds_the_matrices(evenly, truth, monkeypatch) -> None:
    asked: list[int] = []

    def drawn(seed: int, largest: int, folder: object) -> list[object]:
        asked.append(largest)
        return []

    monkeypatch.setattr(fit_run.measuring, "drawn", drawn)
    monkeypatch.setattr(fit_run, "OnGpu", lambda: Clockwork(replace(GPU), truth, 1 << 30))
    assert evenly("fit").status == 2  # nothing was measured
    assert asked == [(1 << 30) // fit_run.SPARED]
