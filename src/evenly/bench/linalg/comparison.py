"""Make, check and time all contenders for one product with one matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evenly.bench.contender import Contender, LeftOut
from evenly.bench.matrices import Source
from evenly.bench.place import Bench, Rates
from evenly.bench.record import absent, timed
from evenly.timing.rounds import ROUNDS, Clock, measure

from .case import Case, matrix_of
from .products import PRODUCTS, host_result


@dataclass(frozen=True, slots=True)
class LinalgRow:
    """The columns of the CSV file. columns: of dense operands; 0 if there are none.

    floor_us: the time in which a copy moves each byte of operands and result once. share: floor_us / us. wrong: how
    many entries of the result are off by more than rounding explains. Others are as in `evenly.bench.record.Row`.
    """

    machine: str
    versions: str
    target: str
    dtype: str
    product: str
    columns: int
    matrix: str
    origin: str
    rows: int
    cols: int
    nnz: int
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


class LinalgComparison:
    """A comparison at one place, in one dtype. rounds: how many, at most."""

    def __init__(self, place: Bench, dtype: str, rates: Rates, rounds: int = ROUNDS) -> None:
        self.place, self.dtype, self.rates, self.rounds = place, dtype, rates, rounds
        self.machine = place.machine()

    def on(
        self, source: Source, product: str, widths: tuple[int, ...], deadline: float | None
    ) -> list[LinalgRow]:
        """Run all contenders on one matrix, for operands of each width. Returns a row for each."""
        matrix = matrix_of(source, self.dtype)
        asked = widths if PRODUCTS[product].widths else (0,)
        return [
            row
            for width in asked
            for row in self.of(Case(self.place, source, matrix, width), product, deadline)
        ]

    def of(self, case: Case, name: str, deadline: float | None) -> list[LinalgRow]:
        product = PRODUCTS[name]
        clocks: dict[str, Clock] = {}
        taking: dict[str, tuple[Contender, int]] = {}
        left: list[LeftOut] = []
        errors = product.checked(case)
        for found in product.contenders(case):
            if isinstance(found, Contender):
                try:
                    wrong = errors(host_result(found.launch()))
                    clocks[found.name] = self.place.clock_of(found)
                    taking[found.name] = found, wrong
                    continue
                except Exception as error:  # a library may refuse a matrix only when it is called
                    found = LeftOut(found.name, f"{type(error).__name__}: {error}")
            left.append(found)
        floor = product.moved(case) / self.rates.copy * 1e6
        samples = measure(clocks, deadline=deadline, rounds=self.rounds, flushed=False)
        rows = [
            self.made(case, name, **timed(taking[who][0], sample, floor, taking[who][1]))
            for (who, _), sample in samples.items()
        ]
        return rows + [self.made(case, name, **absent(who, floor)) for who in left]

    def made(self, case: Case, name: str, **others: Any) -> LinalgRow:
        about = *self.machine, self.place.target, self.dtype, name, case.width
        of = case.source.name, case.source.origin, *case.shape, case.nnz
        return LinalgRow(*about, *of, **others)
