"""Seeds in relaxed memory: one execution each, of those that the memory model allows."""

from __future__ import annotations

import numpy as np
import pytest
from tests.targets.simt import litmus
from tests.targets.simt.test_explore import program as small
from tests.targets.simt.test_explore import zeros
from tests.targets.simt.test_gallery import CASES, cases_of
from tests.targets.simt.test_gallery import program as gallery
from tests.targets.simt.test_graphs import random_program
from tests.targets.simt.test_litmus import TESTS, fits
from tests.targets.simt.test_litmus import program as threads

import evenly as ev

pytestmark = pytest.mark.simt


@pytest.mark.parametrize("name", TESTS)
def test_litmus(name: str) -> None:
    """Allowed outcomes come up, and forbidden ones never."""
    test = TESTS[name]
    found = litmus.drawn(threads(test.threads), range(400))
    assert any(fits(o, test.seen) for o in found) == test.allowed, found


@pytest.mark.parametrize("seeds", [range(i, i + 10) for i in range(0, 40, 10)], ids=str)
def test_all_that_is_drawn_is_allowed(seeds: range) -> None:
    for seed in seeds:
        program = random_program(seed)
        found = litmus.drawn(program, range(60))
        assert found <= litmus.explored(program), (seed, program)
        assert len(found) > 1 or len(litmus.explored(program)) == 1


@pytest.mark.parametrize("name", CASES)
def test_right_code_is_silent(name: str) -> None:
    case = CASES[name]
    for seed in range(60):
        gallery().launch(case.kernel, case.blocks, 1, *case.arguments(), seed=seed, model=case.model, memory="relaxed")  # fmt: skip


@pytest.mark.parametrize("bug", ["sleeper_unfenced", "waker_unfenced", "deque_take_unfenced", "deque_put_unfenced", "lock_never_opened"])  # fmt: skip
def test_bugs_of_weak_memory_are_found(bug: str) -> None:
    (case, *_) = cases_of(bug)
    kinds = set()
    for seed in range(400):
        try:
            gallery(bug).launch(case.kernel, case.blocks, 1, *case.arguments(), seed=seed, model=case.model, memory="relaxed")  # fmt: skip
        except ev.SimtError as error:
            kinds.add(error.kind)
    assert kinds == {"linearisability" if bug.startswith("deque") else "deadlock"}


def test_more_threads_than_can_be_explored() -> None:
    arguments = zeros(24), zeros(1), zeros(1)
    small().launch("last_block", 24, 1, *arguments, memory="relaxed", seed=5)
    assert arguments[2][0] == 24 * 25 // 2


def test_what_it_cannot_run() -> None:
    with pytest.raises(ev.SimtError, match="uses a part of another atomic's place at source.cu"):
        small().launch("halves", 2, 1, np.zeros(1, np.int64), zeros(1), memory="relaxed")
