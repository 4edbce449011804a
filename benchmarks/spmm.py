"""Sparse times dense, C = A B, or SDDMM, X Z^T at A's pattern, under many schedules, in one run.

    python benchmarks/spmm.py [--product sddmm] [--columns 8,32,128] [--matrices uniform-16,band-64] [--dtype float32]
                              [--schedule "ev.GroupMapped(8, lanes=8, vector=4)"]... [--csv FILE]

Needs a GPU and CuPy. `evenly bench linalg` compares `auto` with other libraries; this adds schedules to the
same rounds. --schedule is an expression, or the name of a schedule. Without it, the schedules are those of the
grid below; `--schedule auto` leaves them out, and adds none.
"""

from __future__ import annotations

import argparse
from typing import Any

import evenly as ev
from evenly.bench.contender import OURS, Contender
from evenly.bench.gpu import GpuBench
from evenly.bench.linalg import matrices
from evenly.bench.linalg.case import Case
from evenly.bench.linalg.comparison import LinalgComparison, LinalgRow
from evenly.bench.linalg.products import PRODUCTS, Product
from evenly.bench.matrices import Source
from evenly.bench.record import Recorder

SKEWED = ("rmat-18", "power-law", "one-huge")


def grid(columns: int, skewed: bool) -> list[Any]:
    """The schedules to try for so many columns."""
    lanes = max(1, min(32, columns // 4))
    found: list[Any] = []
    for items in (4, 5, 6, 8):
        team = ev.GroupMapped(lanes, items=items, lanes=lanes, vector=4) if lanes > 1 else None
        found += [team] if team else []
    for size in (2, 4):
        if lanes * size <= 32:
            found.append(ev.GroupMapped(lanes * size, lanes=lanes, vector=4))
    if lanes > 2:
        found += [
            ev.GroupMapped(lanes // 2, items=items, lanes=lanes // 2, vector=8) for items in (2, 4)
        ]
    found.append(ev.GroupMapped(max(lanes, 2), 128, items=5, lanes=max(lanes, 2), vector=4))
    found.append(ev.ThreadMapped(items=4, vector=4 if columns > 8 else 8))
    if skewed:
        few = max(lanes, 2)
        for block in (256, 512, 1024):
            found.append(ev.Lrb(block, few, 1, 64, 256, vector=4))
            found.append(ev.Lrb(block, few, 1, 128, 1024, vector=4))
        found += [
            ev.DynamicChunks(16, size=32, lanes=few, vector=4),
            ev.GroupMapped(128, lanes=few, vector=4),
        ]
        found += split(columns)
    return found


def split(columns: int) -> list[Any]:
    """Schedules that split tiles among teams along the axis."""
    found: list[Any] = []
    for lanes in (n for n in (2, 4, 8, 16, 32) if 4 * n <= max(columns, 8)):
        for atoms in (64, 128, 256):
            if atoms // lanes <= 64:
                found.append(ev.MergePath(items=max(1, atoms // lanes), lanes=lanes, vector=4))
    return found


def schedule_of(text: str) -> Any:
    """A schedule by its name, or by an expression that makes it."""
    return text if text.isidentifier() else eval(text, {"ev": ev})


def under(product: Product, schedules: list[Any] | None, skewed: bool) -> Product:
    """The same product with more contenders: ours under these schedules; None: under those of the grid."""

    def contenders(case: Case) -> Any:
        yield from product.contenders(case)
        for schedule in grid(case.width, skewed) if schedules is None else schedules:
            yield Contender(str(schedule), OURS, case.place.clock, planned(product, case, schedule))

    return Product(product.generated, contenders, product.checked, product.moved)


def planned(product: Product, case: Case, schedule: Any) -> Any:
    rows, columns = case.shape
    if product.checked is PRODUCTS["spmm"].checked:
        B, C = case.dense(columns, 1), case.dense(rows, 2)
        return ev.linalg.spmm.plan(case.A, B, out=C, schedule=schedule)
    operands, out = (case.dense(rows, 1), case.dense(columns, 2)), case.vector()
    return ev.linalg.sddmm.plan(case.A, *operands, out=out, weighted=False, schedule=schedule)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--product", choices=("spmm", "sddmm"), default="spmm")
    parser.add_argument("--columns", default="8,32,128")
    parser.add_argument("--matrices", default=",".join(matrices.DENSE))
    parser.add_argument("--dtype", default="float32")
    parser.add_argument(
        "--schedule",
        action="append",
        help='"auto", another name, or as "ev.ThreadMapped(vector=4)"',
    )
    parser.add_argument("--csv")
    parser.add_argument("--most", type=int, default=100, help="how many of the fastest to print")
    given = parser.parse_args()
    named = [schedule_of(s) for s in given.schedule or []]
    # `auto` is among the product's own contenders.
    schedules = [s for s in named if s != "auto"] if given.schedule else None
    recorder = Recorder(given.csv, LinalgRow) if given.csv else None
    place, product = GpuBench(), PRODUCTS[given.product]
    with place.active():
        bench = LinalgComparison(place, given.dtype, place.rates(), rounds=5)
        print(*bench.machine, given.dtype)
        for name in given.matrices.split(","):
            PRODUCTS[given.product] = under(product, schedules, name in SKEWED)
            source = Source(name, "synthetic", matrices.DENSE[name])
            widths = tuple(map(int, given.columns.split(",")))
            rows = bench.on(source, given.product, widths, None)
            for n in widths:
                here = sorted((r for r in rows if r.columns == n and r.rounds), key=lambda r: r.us)
                best = min((r.us for r in here if r.contender.startswith("cuSPARSE")), default=0.0)
                print(f"{name}, {n} columns; cuSPARSE {best:.1f} us", flush=True)
                for row in here[: given.most]:
                    wrong = f" WRONG: {row.wrong}" if row.wrong else ""
                    print(
                        f"  {row.us:9.1f}  {best / row.us:5.2f}  {row.contender} {row.detail}{wrong}"
                    )
            if recorder is not None:
                recorder.add(rows)


if __name__ == "__main__":
    main()
