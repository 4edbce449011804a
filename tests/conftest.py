"""Shared by all tests: markers for what a test needs, the folder of real matrices, settings of Hypothesis."""

from __future__ import annotations

import ctypes
import functools
import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from evenly import targets
from evenly.errors import UnavailableError
from tests import shared

# What somebody measured here before must not decide what tests see.
os.environ["EVENLY_TUNING"] = "off"

ROOT = Path(__file__).resolve().parents[1]

# No deadline: the first example of a property may compile. Derandomised: a red
# run means a change, not luck.
settings.register_profile(
    "evenly",
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("search", parent=settings.get_profile("evenly"), derandomize=False)
settings.load_profile(os.environ.get("EVENLY_HYPOTHESIS", "evenly"))


@functools.cache
def gpu_count() -> int:
    """How many GPUs the driver sees; 0 without a driver. Imports no CUDA package."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int()
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value


def missing(marker: str) -> str:
    """Return what a marker's tests need and this machine lacks; "" if they can run."""
    if marker == "gpu":
        return "" if gpu_count() else "no NVIDIA GPU here"
    try:
        targets.get(marker)
    except UnavailableError as error:
        return str(error)
    return ""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for marker in "gpu", "simt":
        marked = [item for item in items if item.get_closest_marker(marker)]
        if marked and (reason := missing(marker)):
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish() -> None:
    """Let the garbage collector walk what tests make, and not the tests: there are thousands of them, and they stay."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def shared_results(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let the workers of pytest-xdist share results (tests/shared.py). The folder above theirs is the run's."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared.FOLDER = tmp_path_factory.getbasetemp().parent


@pytest.fixture(scope="session")
def matrices_dir() -> Path:
    """The folder of real matrices, from EVENLY_MATRICES. Skips the test if there is none."""
    folder = Path(os.environ.get("EVENLY_MATRICES", ROOT.parent / "shared" / "matrices"))
    if not folder.is_dir():
        pytest.skip(f"no matrices in {folder} (set EVENLY_MATRICES)")
    return folder


@pytest.fixture
def winners_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty file for the winners of `plan.tune()`."""
    file = tmp_path / "cache" / "winners.jsonl"
    monkeypatch.setenv("EVENLY_TUNING", str(file))
    return file


@pytest.fixture
def sure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remember winners however close the others are, for tests that measure on noisy machines."""
    monkeypatch.setattr("evenly.tuning.tune.doubt", lambda *_: "")
