"""Make identifiers for the names in a user's code.

Each is printed with a prefix that no other identifier has: neither those that a target writes itself, nor those of a
header or library that it uses. So no list of reserved words is needed.
"""

from __future__ import annotations

import re
from typing import Any

from evenly.language import ir

VARIABLE, ARGUMENT = "v_", "a_"
_LONGEST = 48  # letters of a name that are printed
_ILLEGIBLE = re.compile(r"[^A-Za-z0-9_]")


def legible(name: str) -> str:
    """Return `name` with only the characters that identifiers have in every language, and shortened."""
    return _ILLEGIBLE.sub("_", name[:_LONGEST])


def joined(path: ir.Path) -> str:
    """Return the path of an argument, of a field, or of a workspace array ("$", name), as one word."""
    return "_".join(x for x in path if x != "$")


class Names(dict[Any, str]):
    """The identifiers of one scope, by the object that each names. No two objects have the same identifier."""

    def __init__(self) -> None:
        super().__init__()
        self._taken: set[str] = set()

    def unique(self, wanted: str) -> str:
        """Return `wanted`, with a number appended if it is taken."""
        name, n = wanted, 0
        while name in self._taken:
            n += 1
            name = f"{wanted}_{n}"
        self._taken.add(name)
        return name

    def of(self, key: object, wanted: str) -> str:
        """Return the name of `key`. Make one from `wanted` if it has none yet."""
        if key not in self:
            self[key] = self.unique(wanted)
        return self[key]

    def variable(self, v: ir.Var) -> str:
        return self.of(v, VARIABLE + legible(v.name))

    def argument(self, key: object, wanted: str) -> str:
        return self.of(key, ARGUMENT + legible(wanted))
