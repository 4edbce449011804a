"""Identifiers for what a user has named.

Every name of a user's is printed with a prefix that nothing else begins with, neither what targets write
themselves nor a header or a library of theirs: so there is no list of words that are reserved.
"""

from __future__ import annotations

import re
from typing import Any

from evenly.language import ir

VARIABLE, ARGUMENT = "v_", "a_"
_LONGEST = 48  # letters of a name that are printed
_ILLEGIBLE = re.compile(r"[^A-Za-z0-9_]")


def legible(name: str) -> str:
    """`name` in the letters that identifiers have in every language, and not too many of them."""
    return _ILLEGIBLE.sub("_", name[:_LONGEST])


def joined(path: ir.Path) -> str:
    """An argument, a field of one, or a workspace array ("$", name), as one word."""
    return "_".join(x for x in path if x != "$")


class Names(dict[Any, str]):
    """The identifiers of one scope, by what they name: each is handed out once."""

    def __init__(self) -> None:
        super().__init__()
        self._taken: set[str] = set()

    def unique(self, wanted: str) -> str:
        """`wanted`, with a number if somebody has it."""
        name, n = wanted, 0
        while name in self._taken:
            n += 1
            name = f"{wanted}_{n}"
        self._taken.add(name)
        return name

    def of(self, key: object, wanted: str) -> str:
        """The name of `key`, a new one if it has none."""
        if key not in self:
            self[key] = self.unique(wanted)
        return self[key]

    def variable(self, v: ir.Var) -> str:
        return self.of(v, VARIABLE + legible(v.name))

    def argument(self, key: object, wanted: str) -> str:
        return self.of(key, ARGUMENT + legible(wanted))
