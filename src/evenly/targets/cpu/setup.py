"""Emit what each virtual thread of a worker computes before it walks: a schedule's `setup`.

Members of a group that exchange numbers cannot run one after the other. So the code between two exchanges runs for all
of a worker's threads, then the exchange, and so on. What later code reads is kept in scratch memory, for each thread.
"""

from __future__ import annotations

from evenly.language import ir, walk
from evenly.language.schedule_code import ScheduleCode

from .statements import Writer


class Setup:
    """The setup of the virtual thread `member` (a name), one of the `each` threads of a worker, in phase `number`."""

    def __init__(
        self, writer: Writer, number: int, code: ScheduleCode, each: int, member: str
    ) -> None:
        self.w, self.number, self.code, self.each, self.member = writer, number, code, each, member
        self.pieces = _pieces(code.setup)
        self.kept = _kept(self.pieces, code)
        writer.text.peers = self.peer

    def beforehand(self) -> None:
        """Write what runs before any thread walks: all of it, if members exchange numbers."""
        known: set[ir.Var] = set()
        for piece, exchange in self.pieces if self.code.exchanges else ():
            found = walk.variables_set(piece) & self.kept
            with self.w.compound(f"for {self.member} in range({self.each})"):
                used = walk.variables_read(piece) | found
                self.load([v for v in self.kept_in_order if v in known and v in used])
                self.w.block(piece)
                for v in self.kept_in_order:
                    if v in found:
                        self.w.to_scratch(self.memory(v), self.place(self.member), v)
            known |= found
            if exchange is not None:
                self.exchange(exchange)
                known.add(exchange.result)

    def of_member(self) -> None:
        """Write the code that gives the state of the thread `member` its values."""
        if self.code.exchanges:
            self.load([v for v in self.code.state if v in self.kept])
        else:
            self.w.block(self.code.setup)

    @property
    def kept_in_order(self) -> list[ir.Var]:
        return sorted(self.kept, key=self.w.text.var)

    def load(self, variables: list[ir.Var]) -> None:
        for v in variables:
            self.w.from_scratch(self.memory(v), self.place(self.member), v)

    def exchange(self, s: ir.Exchange) -> None:
        """Write an exchange, for each group of a worker's threads."""
        if s.op == "gather":
            return  # the numbers of all members lie side by side already
        w, given, result = self.w, self.memory(s.operands[0]), self.memory(s.result)
        group, rank, total = w.local("group"), w.local("rank"), w.local("total")
        at = f"{group} + {rank}"
        begin = self.place("0")
        with w.compound(f"for {group} in range({begin}, {begin} + {self.each}, {s.size})"):
            w.line(f"{total} = 0")
            if s.op == "sum":
                with w.compound(f"for {rank} in range({s.size})"):
                    w.line(f"{total} += {given}[{at}]")
            with w.compound(f"for {rank} in range({s.size})"):
                match s.op:
                    case "sum":
                        w.line(f"{result}[{at}] = {total}")
                    case "broadcast":
                        source = f"{self.memory(s.operands[1])}[{at}]"
                        w.line(f"{result}[{at}] = {given}[{group} + {source}]")
                    case "scan":
                        w.line(f"{total} += {given}[{at}]")
                        w.line(f"{result}[{at}] = {total}")
                    case "before":
                        w.line(f"{result}[{at}] = {total}")
                        w.line(f"{total} += {given}[{at}]")

    def peer(self, e: ir.Peer) -> str:
        """Print a number that the group of the thread `member` has gathered."""
        t = self.w.text
        index = t.operand(e.index, 71)
        if t.checks is not None:
            number = t.check("index", "the numbers of a group", e.at)
            index = f"check_index({t.expr(e.index)}, {e.size}, {number}, record)"
        given = next(s.operands[0] for s in self.code.exchanges if s.result is e.of)
        first = f"{self.member} // {e.size} * {e.size}"
        return f"{self.memory(given)}[{self.place(first)} + {index}]"

    def memory(self, v: ir.Var) -> str:
        """Return a pointer to the values of `v` for each worker and thread."""
        return self.w.scratch(self.number, f"setup_{self.w.text.var(v)}", v, size=self.each)

    def place(self, member: str) -> str:
        start = "worker" if self.each == 1 else f"worker * {self.each}"
        return start if member == "0" else f"{start} + {member}"


Piece = tuple[ir.Block, ir.Exchange | None]


def _pieces(setup: ir.Block) -> list[Piece]:
    """Cut the code at its exchanges."""
    pieces: list[Piece] = []
    piece: list[ir.Stmt] = []
    for s in setup:
        if isinstance(s, ir.Exchange):
            pieces.append((tuple(piece), s))
            piece = []
        else:
            piece.append(s)
    return [*pieces, (tuple(piece), None)]


def _kept(pieces: list[Piece], code: ScheduleCode) -> set[ir.Var]:
    """Return the variables whose values other pieces, exchanges or the state need."""
    made: set[ir.Var] = set()
    kept: set[ir.Var] = set()
    for piece, exchange in pieces:
        kept |= made & (walk.variables_read(piece) | walk.variables_set(piece))
        made |= walk.variables_set(piece)
        if exchange is not None:
            kept |= {*exchange.operands, exchange.result} - set(code.gathered)
            made.add(exchange.result)
    return kept | (made & set(code.state))
