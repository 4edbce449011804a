"""Scratch arrays: find out how long they get, and refuse what a schedule or a target cannot run.

Every tile that is being run has memory for its scratch arrays. So a plan needs to know how long these get: the greatest
length over the tiles. A length that is a constant is known. A program of its own computes the others before the kernel
runs. It has the loops over tiles with
scratch arrays, and of each loop only what the lengths need.
This step comes with cutting, since the lengths are phases, too.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace

from . import ir, walk
from .diagnostics import Location, refuse
from .slicing import needed, written_arrays
from .types import INT64

Found = dict[ir.Path, tuple[ir.Accumulator, ...]]
Known = tuple[tuple[ir.Path, tuple[int, ...]], ...]
Lengths = tuple[ir.Program, tuple[tuple[ir.Path, tuple[ir.Accumulator, ...]], ...]]


def scratch_in(block: ir.Block) -> list[ir.Scratch]:
    """Return the statements of a block that begin to use a scratch array."""
    return [s for s in walk.statements(block) if isinstance(s, ir.Scratch)]


def refuse_split(program: ir.Program) -> None:
    """Raise LanguageError if the program has scratch arrays, since no thread would own one."""
    for piece in program.pieces:
        for s in scratch_in(piece.body):
            refuse(
                s.at,
                "ev.scratch under a schedule that splits tiles",
                "use a schedule that owns whole tiles, as ThreadMapped, GroupMapped and Lrb do",
            )


def known_lengths(program: ir.Program, teams: tuple[int, ...]) -> Known:
    """Return the lengths of scratch arrays that are constants, as often as there are teams."""
    made = (s for piece in program.pieces for s in scratch_in(piece.body))
    lengths = ((s.array.path, s.length) for s in made)
    return tuple(
        (path, (int(n.value),) * (len(teams) + 1)) for path, n in lengths if isinstance(n, ir.Const)
    )


def lengths(program: ir.Program, teams: tuple[int, ...]) -> Lengths | None:
    """Return the program that computes the greatest lengths, and the accumulators of each scratch array.

    teams: as in `cut`. There is an accumulator for the tiles of each team. Return None if there are no scratch arrays
    whose lengths are to be computed. Raises LanguageError if a length is not known before the kernel runs.
    """
    if not any(scratch_in(piece.body) for piece in program.pieces):
        return None
    _refuse_rounds(program.steps)
    if not any(map(_asked, (s for piece in program.pieces for s in scratch_in(piece.body)))):
        return None
    results: list[tuple[ir.Path, tuple[ir.Accumulator, ...]]] = []
    steps: list[ir.Step] = []
    live: set[ir.Var] = set()
    for step in reversed(program.steps):
        if isinstance(step, ir.TileLoop) and (made := list(filter(_asked, scratch_in(step.body)))):
            found = {s.array.path: _greatest(s, len(teams) + 1) for s in made}
            results += found.items()
            every = tuple(a for each in found.values() for a in each)
            body = walk.rewritten(step.body, functools.partial(_measured, step, teams, found))
            fields = {v for a in every for v in a.fields}
            body, start = needed(body, fields, effects=False, passes=True)
            live |= start - fields - {step.tile}
            steps.append(replace(step, accumulators=every, body=body))
        elif isinstance(step, ir.Scalars):
            body, live = needed(step.body, live, effects=False)
            steps.append(ir.Scalars(body))
    measuring = ir.Program(f"{program.name}_lengths", tuple(reversed(steps)))
    _check(program, measuring, live)
    return measuring, tuple(results)


def _asked(s: ir.Scratch) -> bool:
    """Whether the length of a scratch array has to be computed."""
    return not isinstance(s.length, ir.Const)


def _greatest(s: ir.Scratch, count: int) -> tuple[ir.Accumulator, ...]:
    names = (f"{s.array.path[-1]}_{i}" for i in range(count))
    return tuple(
        ir.Accumulator("max", (ir.Var(n, INT64),), (ir.Const(0, INT64),), at=s.at) for n in names
    )


def _measured(
    loop: ir.TileLoop, teams: tuple[int, ...], found: Found, s: ir.Stmt
) -> ir.Block | None:
    """Return a contribution to the greatest length in the place of a statement that makes a scratch array."""
    if not isinstance(s, ir.Scratch):
        return None
    if not _asked(s):
        return ()
    length = ir.Cast(s.length, INT64)
    if not teams:
        return (ir.Accumulate(found[s.array.path][0], (length,), at=s.at),)
    before, (begin,) = walk.substitute(loop.layout.begin, (loop.tile,))
    after, (end,) = walk.substitute(loop.layout.end, (loop.tile,))
    atoms = ir.Var("atoms", INT64)
    size = ir.Binary("-", ir.Cast(end, INT64), ir.Cast(begin, INT64), INT64)
    made: list[ir.Stmt] = [*before, *after, ir.Assign(atoms, size, s.at)]
    ranges = zip((None, *teams), (*teams, None), found[s.array.path], strict=True)
    for low, high, acc in ranges:
        block: ir.Block = (ir.Accumulate(acc, (length,), at=s.at),)
        if high is not None:
            block = (ir.If(ir.Compare("<", atoms, ir.Const(high, INT64)), block, at=s.at),)
        if low is not None:
            block = (ir.If(ir.Compare(">=", atoms, ir.Const(low, INT64)), block, at=s.at),)
        made += block
    return tuple(made)


def _refuse_rounds(steps: tuple[ir.Step, ...]) -> None:
    for step in steps:
        if isinstance(step, ir.Rounds):
            for piece in ir.pieces(step.steps):
                for s in scratch_in(piece.body):
                    refuse(
                        s.at,
                        "ev.scratch in a while around loops over tiles",
                        "call a kernel without the while, round by round",
                    )


def _check(program: ir.Program, made: ir.Program, live: set[ir.Var]) -> None:
    """Check that the lengths follow from what the kernel is given."""
    written = written_arrays(program)
    for step in made.steps:
        assert not isinstance(step, ir.Rounds)
        read = {e.array for e in _read(step) if isinstance(e, ir.Element)}
        if read & written or live:
            refuse(
                _first(made if isinstance(step, ir.Scalars) else replace(made, steps=(step,))),
                "the length of ev.scratch depends on what the kernel stores or computes for all tiles",
                "a plan needs it beforehand: compute it in a kernel before this one, and pass it as an argument",
            )


def _read(step: ir.Piece) -> Iterator[ir.Expr]:
    yield from walk.expressions(step.body)
    if isinstance(step, ir.TileLoop):
        layout = step.layout
        for code in (layout.num_tiles, layout.num_atoms, layout.begin, layout.end):
            yield from walk.inline_expressions(code)


def _first(program: ir.Program) -> Location:
    """Return where the first scratch array of a program of lengths is made."""
    loops = (step for step in program.steps if isinstance(step, ir.TileLoop))
    found = next(a.at for step in loops for a in step.accumulators)
    assert found is not None
    return found
