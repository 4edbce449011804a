"""Figures 3 to 7 of the paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..experiment import Figure, Row, Site
from .matrices import Matrix, all_of_them, on_place, random_lengths, the_twelve, there, with_lengths
from .problem import freed, problem

ORDER = 1024  # of the random matrices
BALANCED, FEW_DENSE = "balanced", "a few dense rows"
MIX_OF_12, MIX_OF_32 = "mix of the 12", "mix of the 32"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large the batches are. matrices: how many of the twelve, and of the 32, have batches of their own."""

    batches: tuple[int, ...]  # Figure 3
    random: int  # Figure 4: matrices in a batch
    lengths: tuple[int, ...]  # Figure 4: mean row lengths
    homogeneous: int  # Figure 5: matrices in a batch
    mixes: tuple[int, ...]  # Figures 6 and 7
    matrices: tuple[int, int] = (12, 32)


PAPER = Sizes(
    (1, 10, 100, 1000, 10_000, 20_000), 1000, (2, 4, 8, 16, 32, 64), 10_000, (10, 100, 1000, 10_000)
)
ON_CPU = Sizes((1, 10, 100, 500), 100, (2, 4, 8, 16, 32, 64), 100, (10, 100, 500))
QUICK = Sizes((1, 4), 4, (2, 16), 4, (4, 12), (2, 4))


def sizes(site: Site) -> Sizes:
    """Return the paper's sizes on a GPU, smaller ones on a CPU."""
    if site.quick:
        return QUICK
    return PAPER if site.on_gpu else ON_CPU


def over_batch_size(site: Site) -> Iterator[list[Row]]:
    """Figure 3: batches of one matrix each, of growing size."""
    for matrix in the_twelve(site)[: sizes(site).matrices[0]]:
        for count in sizes(site).batches:
            yield of_matrices(site, 3, matrix.label, count, [matrix] * count, loops=True)


def over_row_length(site: Site) -> Iterator[list[Row]]:
    """Figure 4: random matrices."""
    rng = np.random.default_rng(0)
    for case in (BALANCED, FEW_DENSE):
        for mean in sizes(site).lengths:
            site.say(f"Figure 4: {case}, mean row length {mean}")
            lengths = random_lengths(ORDER, mean, case == FEW_DENSE)
            count = sizes(site).random
            made = [with_lengths(rng.permutation(lengths), ORDER, rng) for _ in range(count)]
            items = [on_place(site, m) for m in made]
            yield problem(site, case, mean, items, [lengths.max()] * count).measure(4)
            freed(site)


def by_matrix(site: Site) -> Iterator[list[Row]]:
    """Figure 5: homogeneous batches of each of the 32, by mean row length."""
    chosen = all_of_them(site)
    step = len(chosen) // sizes(site).matrices[1]
    for matrix in chosen[::step]:
        many = [matrix] * sizes(site).homogeneous
        yield of_matrices(site, 5, matrix.label, round(matrix.mean, 2), many)


def of_the_twelve(site: Site) -> Iterator[list[Row]]:
    """Figure 6: random mixes of the twelve."""
    yield from mixes(site, 6, MIX_OF_12, the_twelve(site))


def of_all(site: Site) -> Iterator[list[Row]]:
    """Figure 7: random mixes of all 32."""
    yield from mixes(site, 7, MIX_OF_32, all_of_them(site))


def mixes(site: Site, figure: int, case: str, known: list[Matrix]) -> Iterator[list[Row]]:
    rng = np.random.default_rng(0)
    for count in sizes(site).mixes:
        chosen = [known[i] for i in rng.integers(0, len(known), count)]
        yield of_matrices(site, figure, case, count, chosen, loops=True)


def of_matrices(
    site: Site, figure: int, case: str, at: float, chosen: list[Matrix], loops: bool = False
) -> list[Row]:
    """Measure a batch of these matrices."""
    site.say(f"Figure {figure}: {case}, {len(chosen):,} matrices")
    items = [there(site, m) for m in chosen]
    stand_ins = sum(m.stand_in for m in chosen)
    longest = [m.longest for m in chosen]
    try:
        rows = problem(site, case, at, items, longest, stand_ins).measure(figure, loops)
    except MemoryError:  # CuPy's, too
        rows = [too_large(site, figure, case, at, chosen)]
    freed(site)
    return rows


def too_large(site: Site, figure: int, case: str, at: float, chosen: list[Matrix]) -> Row:
    """Return the row of a batch that does not fit into memory."""
    machine, versions = site.once("machine", site.place.machine)
    return Row(
        machine, versions, site.place.target, figure, case, at, len(chosen),
        stand_ins=sum(m.stand_in for m in chosen), rows=sum(m.matrix.shape[0] for m in chosen),
        nonzeros=sum(m.matrix.nnz for m in chosen), curve="", contender="all of them", note="not enough memory",
    )  # fmt: skip


RATE, RATES = ("gflop_per_s",), ("gflop_per_s", "gb_per_s")
FIGURES = (
    Figure(
        3, "batches of one matrix, over the number of matrices", "matrices in the batch", RATE,
        "loops of library calls at most 5 GFLOP/s; the batched kernels up to 25 times as fast", over_batch_size,
        apart=True,
    ),
    Figure(
        4, f"random matrices of order {ORDER:,}, over the mean row length", "mean row length", RATE,
        "ELL up to 80 GFLOP/s where rows are balanced; CSR-I ahead where a few rows are dense", over_row_length,
        apart=True,
    ),
    Figure(
        5, "batches of each of the 32 matrices, by mean row length", "mean row length", RATE, "", by_matrix
    ),
    Figure(
        6, "random mixes of the twelve matrices of order 800 to 1,024", "matrices in the batch", RATES,
        "COO above 55 GFLOP/s", of_the_twelve,
    ),
    Figure(
        7, "random mixes of all 32 matrices", "matrices in the batch", RATES, "COO above 55 GFLOP/s", of_all
    ),
)  # fmt: skip
