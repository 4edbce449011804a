"""What `.on("simt", ...)` takes, and what it says of anything else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.batteries import matrices
from tests.kernels import spmv

import evenly as ev
from evenly.targets.simt.options import Options, options_of

NAMES = "expected one of depth, memory, order, progress, races, resident, seed, seeds, starts, steps, strict"
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "misspelled": ({"sed": 3}, f"option of target 'simt': {NAMES}, got 'sed'; hint: did you mean 'seed'?"),
    "negative": ({"seed": -1}, "seed: expected an integer, 0 or more, got -1"),
    "fraction": ({"seed": 1.5}, "seed: expected an integer, 0 or more, got 1.5"),
    "true": ({"seed": True}, "seed: expected an integer, 0 or more, got True"),
    "too large": ({"seed": 2**63}, f"seed: expected an integer below {2**63}, got {2**63}"),
    "one for several": ({"seeds": 3}, "seeds: expected several integers, range(20) say, got 3"),
    "none": ({"seeds": []}, "seeds: expected at least one integer, got none"),
    "letters": ({"seeds": "ab"}, "seeds: expected an integer, 0 or more, got 'a'"),
    "order": ({"order": "robin"}, "order: expected one of pct, random, round_robin, got 'robin'; hint: did you mean 'round_robin'?"),
    "starts": ({"starts": "all"}, "starts: expected one of any, index, got 'all'"),
    "resident": ({"resident": -4}, "resident: expected an integer, 0 or more, got -4"),
    "steps": ({"steps": 0.5}, "steps: expected an integer, 0 or more, got 0.5"),
    "resident beyond": ({"resident": 2**31}, f"resident: expected an integer below {2**31}, got {2**31}"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    given, message = REFUSED[name]
    with pytest.raises(ev.InputError) as caught:
        options_of(given)
    assert str(caught.value) == message


@pytest.mark.parametrize("target", ["cpu", "python"])
def test_other_targets_have_none(target: str) -> None:
    matrix = matrices()["power law"]
    given = ev.csr(matrix), np.zeros(matrix.shape[1]), np.zeros(matrix.shape[0])
    with pytest.raises(ev.InputError) as caught:
        spmv.on(target, seed=1)(*given)
    hint = "seed=, seeds= and order= are options of target 'simt'"
    assert (
        str(caught.value)
        == f"seed: expected no options for target '{target}', got seed=1; hint: {hint}"
    )


def test_what_is_taken() -> None:
    given = {"seed": np.int64(7), "order": "round_robin", "races": False, "resident": 8}
    assert options_of(given) == Options(7, (), "round_robin", False, 8)
    assert options_of({"seeds": range(3)}).seeds == (0, 1, 2)
    assert options_of({}) == Options()


def test_a_run_in_words() -> None:
    assert Options(seed=7).how == "seed 7"
    assert Options(seed=7, order="pct").how == "order pct, depth 3, seed 7"
    assert Options(seed=7, order="round_robin").how == "order round_robin"


@pytest.mark.simt
def test_they_are_refused_where_they_are_given() -> None:
    matrix = matrices()["power law"]
    x, y = np.ones(matrix.shape[1], np.float32), np.empty(matrix.shape[0], np.float32)
    with pytest.raises(ev.InputError, match="did you mean 'seed'"):
        spmv.on("simt", sed=3)(ev.csr(matrix), x, y)


def test_other_targets_take_none() -> None:
    matrix = matrices()["power law"]
    x, y = np.ones(matrix.shape[1], np.float32), np.empty(matrix.shape[0], np.float32)
    with pytest.raises(ev.InputError, match="seed") as caught:
        spmv.on("cpu", seed=3)(ev.csr(matrix), x, y)
    assert "\n" not in str(caught.value)
