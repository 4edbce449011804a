"""Make, check and time all contenders for one product with one matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evenly.bench.checked import Checked
from evenly.bench.matrices import Source
from evenly.bench.place import Bench, Rates
from evenly.timing.rounds import ROUNDS, measure

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
        errors = product.checked(case)
        taking = Checked(
            self.place,
            product.contenders(case),
            lambda who: errors(host_result(who.launch())),
        )
        floor = product.moved(case) / self.rates.copy * 1e6
        samples = measure(taking.clocks, deadline=deadline, rounds=self.rounds, flushed=False)
        timed = (taking.timed(who, sample, floor) for (who, _), sample in samples.items())
        return [self.made(case, name, **columns) for columns in (*timed, *taking.absent(floor))]

    def made(self, case: Case, name: str, **others: Any) -> LinalgRow:
        about = *self.machine, self.place.target, self.dtype, name, case.width
        of = case.source.name, case.source.origin, *case.shape, case.nnz
        return LinalgRow(*about, *of, **others)
