"""Make, check and time all contenders for one function on lists of one kind of lengths."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import evenly as ev
from evenly.bench.checked import Checked
from evenly.bench.contender import AUTO, CALL, KERNELS, LIBRARY, Contender, LeftOut, prepared
from evenly.bench.place import Bench, Rates
from evenly.interop.transfer import to_numpy
from evenly.timing.rounds import ROUNDS, measure

from . import peers
from .lengths import offsets_of
from .operations import OPERATIONS


@dataclass(frozen=True, slots=True)
class RaggedRow:
    """The columns of the CSV file. lists, elements: how many. share: floor_us / us, the floor being each byte once.

    wrong: how many entries of the result differ from NumPy's. Others are as in `evenly.bench.record.Row`.
    """

    machine: str
    versions: str
    dtype: str
    operation: str
    lengths: str
    lists: int
    elements: int
    contender: str
    family: str = ""
    detail: str = ""
    clock: str = ""
    us: float = 0.0
    us_min: float = 0.0
    us_max: float = 0.0
    rounds: int = 0
    floor_us: float = 0.0
    share: float = 0.0
    wrong: int = 0
    note: str = ""


class Case:
    """Elements and offsets, here and at the place where they are worked on. width: of elements that are rows."""

    def __init__(self, place: Bench, lengths: str, count: int, dtype: str, width: int = 1) -> None:
        self.name, self.place = lengths, place
        self.offsets = offsets_of(lengths, count // width)
        shape = (int(self.offsets[-1]), width)[: 1 if width == 1 else 2]
        self.x = np.random.default_rng(0).random(shape).astype(dtype)
        put: Any = place.cupy.asarray if place.target == "cuda" else np.asarray  # type: ignore[attr-defined]
        self.x_there, self.offsets_there = put(self.x), put(self.offsets)
        self.lists = ev.ragged(self.offsets_there)


def contenders(operation: str, case: Case) -> Iterator[Contender | LeftOut]:
    """Yield the function of `ev.ragged`, then how others do it."""
    yield prepared("auto", partial(ours, operation, case))
    # A sort of theirs may read back what it has found, which no graph can.
    clock = CALL if OPERATIONS[operation].plan is None else KERNELS
    if case.place.target == "cpu":
        for name, by_numpy in peers.NUMPY.get(operation, {}).items():
            call = by_numpy(case.x_there, case.offsets_there)
            yield Contender(name, LIBRARY, CALL, call)
        return
    if importlib.util.find_spec("torch") is None:
        yield LeftOut("PyTorch", "torch is not installed")
    else:
        lists = peers.Lists(case.x_there, case.offsets_there)
        for name, by_torch in peers.TORCH.get(operation, {}).items():
            yield prepared(name, partial(by_pytorch, name, by_torch, lists, clock))
    if operation in peers.CUB:
        yield prepared("CUB, cuda.compute", partial(by_cub, operation, case, clock))


def ours(operation: str, case: Case) -> Contender:
    of, given = OPERATIONS[operation], (case.x_there, case.lists)
    if of.plan is None:
        return Contender("auto", AUTO, CALL, partial(of.run, *given))
    planned = of.plan(*given)

    def launch() -> Any:
        found = planned()
        return found[0] if isinstance(found, tuple) else found

    return Contender("auto", AUTO, case.place.clock, launch, str(planned.plan.schedule))


def by_pytorch(name: str, make: Callable[..., Any], lists: peers.Lists, clock: str) -> Contender:
    return Contender(name, LIBRARY, clock, make(lists))


def by_cub(operation: str, case: Case, clock: str) -> Contender:
    call = peers.CUB[operation](case.x_there, case.offsets_there)
    return Contender("CUB, cuda.compute", LIBRARY, clock, call)


def errors(found: Any, expected: Any, rtol: float) -> int:
    """How many entries differ from NumPy's, by more than rtol of the largest entry."""
    mine = to_numpy(found).astype(np.float64).reshape(-1)
    theirs = expected.reshape(-1)
    finite = np.abs(theirs[np.isfinite(theirs)])
    near = np.isclose(mine, theirs, rtol, rtol * finite.max(initial=0), equal_nan=True)
    return int(len(theirs) - np.count_nonzero(near))


def compare(
    place: Bench, rates: Rates, operation: str, case: Case, rounds: int = ROUNDS
) -> list[RaggedRow]:
    """Return a row for each contender."""
    of, lists = OPERATIONS[operation], case.lists
    expected = of.expected(case.x, case.offsets)
    taking = Checked(
        place,
        contenders(operation, case),
        lambda who: errors(who.launch(), expected, of.rtol),
    )
    moved = of.moved(case.x.size, lists.num_tiles, case.x.itemsize) + case.offsets.nbytes
    floor = moved / rates.copy * 1e6
    machine = place.machine()
    about = *machine, case.x.dtype.name, operation, case.name, lists.num_tiles, case.x.size
    samples = measure(taking.clocks, rounds=rounds, flushed=False)
    timed = (taking.timed(name, sample, floor) for (name, _), sample in samples.items())
    return [RaggedRow(*about, **columns) for columns in (*timed, *taking.absent(floor))]
