"""Emit reductions over the whole grid: each worker has a partial result, and these are joined in the workers' order."""

from __future__ import annotations

from evenly.language import ir
from evenly.language.phases import GridResult
from evenly.language.types import POS

from .statements import Writer, like


class Grid:
    """The grid accumulators of one phase, in the function that runs it."""

    def __init__(self, writer: Writer, phase: int, results: tuple[GridResult, ...]) -> None:
        self.writer = writer
        self.results = results
        self.phase = phase

    def start(self) -> None:
        self.writer.identities(tuple(r.accumulator for r in self.results))

    def resume(self, resumed: str) -> None:
        """Write the code by which a worker goes on with the partial results that it has saved, if `resumed` holds.

        If not, it runs before all others, and saves an empty result for each.
        """
        if not self.results:
            return
        w, each = self.writer, self.writer.local("each")
        with w.compound(f"if {resumed}"):
            for v in self.fields():
                w.from_scratch(self.pointer(v), "worker", v)
        with w.otherwise(), w.compound(f"for {each} in range(workers)"):
            for v in self.fields():
                w.to_scratch(self.pointer(v), each, v)

    def keep(self) -> None:
        """Write the code by which a worker saves its partial results, at its end."""
        for v in self.fields():
            self.writer.to_scratch(self.pointer(v), "worker", v)

    def join(self) -> None:
        """Write the code that combines all partial results, in order, into the accumulators' fields."""
        if not self.results:
            return
        w = self.writer
        self.start()
        q = w.local("earlier")
        with w.compound(f"for {q} in range(workers)"):
            for r in self.results:
                parts = tuple(like(v, "partial") for v in r.accumulator.fields)
                for v, part in zip(r.accumulator.fields, parts, strict=True):
                    w.from_scratch(self.pointer(v), q, part)
                w.combine(r.accumulator, r.accumulator.fields, parts)

    def store(self) -> None:
        """Write stores of the finished results to where the program expects them."""
        zero = (ir.Const(0, POS),)
        for r in self.results:
            for v, array in zip(r.accumulator.fields, r.arrays, strict=True):
                self.writer.statement(ir.Store(array, zero, v))

    def fields(self) -> list[ir.Var]:
        return [v for r in self.results for v in r.accumulator.fields]

    def pointer(self, v: ir.Var) -> str:
        return self.writer.scratch(self.phase, f"grid_{self.writer.text.var(v)}", v)
