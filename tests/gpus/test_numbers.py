"""Whose numbers a GPU gets: its own, those of the user's file, or those of the most similar GPU, scaled."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.cache import directory
from evenly.choosing.model import Work, predicted
from evenly.choosing.statistics import statistics
from evenly.fitting.vector import rows
from evenly.gpus import kept, numbers, scaling
from evenly.gpus.gpu import Gpu
from evenly.gpus.numbers import DEFAULT, checked, committed, for_gpu, measured, text_of

# About what the data sheets say. None of them was measured.
A100 = Gpu(108, 2048, 32, 167_936, "NVIDIA A100-SXM4-40GB", 41_943_040, 1_555_200, 1_410)
A10 = Gpu(72, 1536, 16, 102_400, "NVIDIA A10", 6_291_456, 600_096, 1_695)
L4 = Gpu(58, 1536, 24, 102_400, "NVIDIA L4", 50_331_648, 300_096, 2_040)
B200 = Gpu(148, 2048, 32, 233_472, "NVIDIA B200", 132_644_864, 7_995_392, 1_965)
UNSEEN = {"sm_80": A100, "sm_86": A10, "sm_89": L4, "sm_100": B200}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cache of the test's own, without files; what was read before is read again, and again after the test."""
    monkeypatch.setenv("EVENLY_CACHE_DIR", str(tmp_path / "cache"))
    for known in (numbers.of_user, numbers.for_gpu):
        known.cache_clear()
    yield
    for known in (numbers.of_user, numbers.for_gpu):
        known.cache_clear()


def unseen() -> Any:
    return pytest.mark.parametrize("gpu", [pytest.param(g, id=arch) for arch, g in UNSEEN.items()])


def file_of(gpu: Gpu, **rates: float) -> str:
    """The text of a data file: the default GPU's costs, for another one, with other rates."""
    text = text_of(DEFAULT)
    for field in ("multiprocessors", "shared_memory", "l2", "bandwidth", "clock", "name"):
        line = next(x for x in text.splitlines() if x.startswith(f"{field} = "))
        value = getattr(gpu, field)
        text = text.replace(line, f"{field} = {value!r}".replace("'", '"'), 1)
    for key, value in rates.items():
        part = text.index("[rates]")
        line = next(x for x in text[part:].splitlines() if x.startswith(f"{key} = "))
        text = text[:part] + text[part:].replace(line, f"{key} = {value}", 1)
    return text


# ---- GPUs that were measured -----------------------------------------------------------------------------
def test_every_committed_file_has_the_tables_of_the_model() -> None:
    assert next(known.gpu for known in committed()) == measured()
    for known in committed():
        assert checked(known) is known
        assert known.gpu.name and known.gpu.bandwidth and known.gpu.l2 and known.gpu.speed


def test_a_measured_gpu_has_its_own_numbers() -> None:
    for known in committed():
        found = for_gpu(known.gpu)
        assert found["origin"] == f"measured on {known.gpu.name}"
        assert {table: found[table] for table in known.costs} == known.costs
        assert for_gpu(replace(known.gpu, clock=known.gpu.clock - 30)) == found  # another board


def test_parts_of_a_gpu_are_smaller_ones() -> None:
    whole = measured()
    part = replace(whole, multiprocessors=16, name=f"{whole.name} MIG 1g.18gb")
    found = for_gpu(part)
    assert found["multiprocessors"] == 16
    assert found["rates"]["lines"] == pytest.approx(for_gpu(whole)["rates"]["lines"] * 16 / 132)


# ---- GPUs that were not ------------------------------------------------------------------------------------
@unseen()
def test_a_gpu_that_was_never_measured_is_scaled(gpu: Gpu) -> None:
    found, known = for_gpu(gpu), nearest(gpu)
    before = for_gpu(known)
    assert found["rates"]["memory"] / gpu.bandwidth == pytest.approx(
        before["rates"]["memory"] / known.bandwidth
    )
    assert found["rates"]["l2"] / gpu.l2 == pytest.approx(before["rates"]["l2"] / known.l2)
    assert found["multiprocessors"] == gpu.multiprocessors
    faster = gpu.speed / known.speed
    assert found["groups"]["item"] * faster == pytest.approx(before["groups"]["item"])
    assert found["groups"]["launch"] == before["groups"]["launch"]
    assert found["rates"]["overlap"] == before["rates"]["overlap"]
    assert (
        f"scaled from {known.name} (memory x {gpu.bandwidth / known.bandwidth:.2f}"
        in found["origin"]
    )
    assert "`evenly fit` measures this GPU" in found["origin"]


def nearest(gpu: Gpu) -> Gpu:
    return min((known.gpu for known in committed()), key=gpu.distance)


@unseen()
def test_large_matrices_take_as_much_longer_as_memory_is_slower(gpu: Gpu) -> None:
    A = ev.csr(by_rows(np.full(1_000_000, 40)))
    fast, slow = (least(predicted(Work(statistics(A)), for_gpu(g))) for g in (nearest(gpu), gpu))
    assert slow / fast == pytest.approx(nearest(gpu).bandwidth / gpu.bandwidth, rel=0.5)
    carved = (getattr(s, "carveout", -1) for s in predicted(Work(statistics(A)), for_gpu(gpu)))
    assert (max(carved) >= 0) == (gpu.shared_memory == nearest(gpu).shared_memory)


def by_rows(lengths: Any) -> Any:
    import scipy.sparse

    offsets = np.append(0, np.cumsum(lengths)).astype(np.int32)
    columns = np.zeros(offsets[-1], np.int32)
    values = np.ones(offsets[-1], np.float32)
    return scipy.sparse.csr_array((values, columns, offsets), shape=(len(lengths), 8))


def least(found: Any) -> float:
    return float(min(cost.total for cost in found.values()))


def test_every_number_is_scaled_by_something_or_the_same_everywhere() -> None:
    keys = {key for row in rows(measured_costs()).values() for key in row}
    assert keys - {"schedule", "with"} == {*scaling.GROWS, *scaling.SHRINKS, *scaling.SAME}


def measured_costs() -> Any:
    return committed()[0].costs


def test_what_is_not_known_is_taken_to_be_the_same() -> None:
    found = for_gpu(Gpu(132))
    assert found["rates"] == for_gpu(measured())["rates"]
    assert "memory x 1.00" in found["origin"]


def test_explain_says_whose_numbers_they_are() -> None:
    A = ev.csr(by_rows(np.arange(100)))
    assert f"what work costs: measured on {measured().name}\n" in str(ev.explain(A, target="cuda"))
    assert "what work costs" not in str(ev.explain(A, target="cpu"))


# ---- the user's files --------------------------------------------------------------------------------------
def test_a_users_file_counts_more_than_evenlys() -> None:
    path = numbers.keep(measured().name, file_of(measured(), memory=1234.5))
    assert path == str(directory("gpus") / "nvidia-h200.toml")
    found = for_gpu(measured())
    assert (found["rates"]["memory"], found["origin"]) == (1234.5, f"measured on {measured().name}")


def test_a_users_file_is_for_similar_gpus_too() -> None:
    numbers.keep(A100.name, file_of(A100, memory=1000.0))
    found = for_gpu(replace(A100, name="NVIDIA A100 80GB PCIe", bandwidth=2 * A100.bandwidth))
    assert found["rates"]["memory"] == 2000.0
    assert found["origin"].startswith(f"scaled from {A100.name} (memory x 2.00, L2 x 1.00")
    assert for_gpu(measured())["origin"] == f"measured on {measured().name}"


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("[runs]", "[walks]"),
        lambda text: text.replace("overlap = ", "overlaps = "),
        lambda text: text.replace("overlap = ", "overlap = -"),
        lambda text: text.replace("overlap = ", "overlap = nan #"),
        lambda text: text.replace("multiprocessors = 132", "multiprocessors = 'all'"),
        lambda text: text.replace("multiprocessors = 132", "multiprocessors = 0"),
        lambda text: text.replace("block = 256, items = 3", "block = 256, items = 2"),
        lambda text: text.replace("[gpu]", "[cpu]"),
        lambda text: text.replace("[gpu]", "[gpu"),
        lambda text: text[: len(text) // 2],
        lambda text: "",
    ],
)
def test_a_file_that_does_not_fit_is_not_used_and_said(change: Any) -> None:
    numbers.keep(measured().name, change(file_of(measured(), memory=1234.5)))
    with pytest.warns(
        UserWarning, match=r"h200\.toml is not a data file of this version .*evenly fit"
    ):
        found = for_gpu(measured())
    assert found["rates"]["memory"] != 1234.5


@pytest.mark.skipif(os.name == "nt", reason="no permission bits")
def test_a_file_that_others_can_write_is_not_used() -> None:
    path = Path(numbers.keep(measured().name, file_of(measured(), memory=1234.5)))
    path.parent.chmod(0o777)
    numbers.of_user.cache_clear()
    with pytest.warns(RuntimeWarning, match="can be written by others"):
        assert for_gpu(measured())["rates"]["memory"] != 1234.5


def test_a_place_that_cannot_be_written_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENLY_CACHE_DIR", os.devnull)
    with pytest.raises(ev.InputError, match="a place for the data file that can be written"):
        numbers.keep("NVIDIA H200", "")


def test_file_names() -> None:
    assert kept.file_name("NVIDIA H100 80GB HBM3") == "nvidia-h100-80gb-hbm3.toml"
    assert tomllib.loads(text_of(DEFAULT))["gpu"]["name"] == "NVIDIA H200"
