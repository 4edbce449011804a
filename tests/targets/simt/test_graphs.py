"""Execution graphs against the axioms of the memory model, and against all interleavings, on random programs."""

from __future__ import annotations

import random

import pytest
from tests.targets.simt.axioms import Instruction, Model, Program
from tests.targets.simt.litmus import explored

pytestmark = pytest.mark.simt


def random_program(seed: int) -> Program:
    chance = random.Random(seed)
    lengths = chance.choice([(2, 2), (3, 2), (3, 3), (2, 2, 2), (1, 2, 3), (4, 2), (2, 2, 1, 1)])
    values = iter(range(1, 99))
    kinds = ["load", "load", "store", "store", "add", "exchange", *["fence"] * chance.randint(0, 3)]
    return [
        [Instruction(chance.choice(kinds), chance.randrange(2), next(values)) for _ in range(n)]
        for n in lengths
    ]


@pytest.mark.parametrize("seeds", [range(i, i + 20) for i in range(0, 160, 20)], ids=str)
def test_the_outcomes_are_those_of_the_axioms(seeds: range) -> None:
    for seed in seeds:
        program = random_program(seed)
        wanted = Model(program, 2, sequential=False).outcomes()
        assert explored(program) == wanted, (seed, program)


def branching_program(seed: int) -> Program:
    chance = random.Random(seed)
    lengths = chance.choice([(3, 3), (4, 3), (2, 2, 2), (4, 4)])
    kinds = ["load", "store", "add", "swap", "swap", "skip_if_zero", "fence"]
    return [
        [
            Instruction(chance.choice(kinds), chance.randrange(2), chance.randint(1, 2))
            for _ in range(n)
        ]
        for n in lengths
    ]


@pytest.mark.parametrize("seeds", [range(i, i + 25) for i in range(0, 100, 25)], ids=str)
def test_branches_and_exchanges_that_fail(seeds: range) -> None:
    for seed in seeds:
        program = branching_program(seed)
        found = explored(program, memory="sequential")
        assert found == explored(program, preemptions=99), (seed, program)
        assert found <= explored(program), (seed, program)


@pytest.mark.parametrize("seeds", [range(i, i + 20) for i in range(0, 60, 20)], ids=str)
def test_sequential_outcomes_are_those_of_all_interleavings(seeds: range) -> None:
    for seed in seeds:
        program = random_program(seed)
        found = explored(program, memory="sequential")
        assert found == Model(program, 2, sequential=True).outcomes(), (seed, program)
        assert found == explored(program, preemptions=99), (seed, program)
        assert found <= explored(program, blocks=False), (seed, program)
