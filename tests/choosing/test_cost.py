"""How the terms of a cost make its total."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenly.choosing.cost import cost

US = st.floats(0, 1e7)


@given(st.tuples(US, US, US), US, US, US, st.floats(1, 4))
def test_launch_and_chain_come_on_top_of_what_overlaps(
    limits, work, launch, chain, overlap
) -> None:
    found = cost(limits, work, launch, chain, overlap)
    rest = found.total - launch - chain
    slack = 1e-9 * (1 + found.total)
    assert max(*limits, work) - slack <= rest <= sum(limits) + work + slack
    assert found[:-1] == (launch, *limits, work, 0.0, chain)


def test_the_last_multiprocessor_takes_longer_than_the_mean() -> None:
    even, late = (cost((4.0, 0.0, 0.0), 2.0, 1.0, 3.0, 1.0, share) for share in (0.0, 0.5))
    assert (even.tail, late.tail) == (0.0, pytest.approx(3.0))
    assert late.total == pytest.approx(even.total + 3.0)


def test_the_largest_limit_counts_and_work_adds_to_it_unless_it_overlaps() -> None:
    assert cost((100.0, 50.0, 50.0), 0.0, 0.0, 0.0, 1.0).total == pytest.approx(100, rel=0.01)
    adds, overlaps = (cost((100.0, 0.0, 0.0), 100.0, 0.0, 0.0, n).total for n in (1.0, 2.0))
    assert (adds, overlaps) == (pytest.approx(200), pytest.approx(100 * 2**0.5))
    assert cost((0.0, 0.0, 0.0), 0.0, 0.0, 0.0, 1.3).total == 0


def test_terms_that_cost_nothing_are_not_shown() -> None:
    assert str(cost((12.34, 0.0, 0.01), 3.0, 2.0, 0.0, 1.3)) == "launch 2.0, memory 12.3, work 3.0"
