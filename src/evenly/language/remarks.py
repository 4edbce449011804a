"""Prints and assertions in kernels, and which targets run them.

This step is between lowering and cutting, so that a target that does not check cuts and
compiles a program without assertions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from . import ir, walk
from .diagnostics import Location, refuse


def refuse_keyword(name: str, at: Location) -> NoReturn:
    refuse(at, f"print takes no argument {name} here", "texts and numbers, one line a call")


def quiet(program: ir.Program, target: str, hears: bool) -> ir.Program:
    """Return the program without assertions, for a target that does not check. Raises LanguageError if it prints.

    hears: whether the target would run them with debug=True.
    """
    for step in program.pieces:
        for s in walk.statements(step.body):
            if isinstance(s, ir.Print) and s.at is not None:
                hint = "run it on target 'python' or 'simt'"
                hint += f", or on {target!r} with debug=True" if hears else ""
                refuse(s.at, f"print on target '{target}'", hint)
    return replace(program, steps=walk.map_steps(program.steps, _silent))


def _silent(block: ir.Block) -> ir.Block:
    return walk.rewritten(block, lambda s: () if isinstance(s, ir.Assert) else None)
