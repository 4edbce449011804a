"""What code reads from outside: names of functions, attributes of modules, members of classes, defaults.

Whatever is lowered reads by the functions below, and whoever keeps what was made of it records them (`recording`).
It is good for as long as all that was read is as it was: `Reads.hold`. What else there is outside decides
nothing, so nothing has to be guessed: neither which attributes may be meant, nor how deep to look.

What belongs to evenly's own modules does not change, and is not recorded.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, ModuleType
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")
NOTHING: Any = type("Nothing", (), {"__repr__": lambda self: "nothing"})()
MOST = 256  # values of one key that are kept


class Reads:
    """Places outside, each with what was read there: while it is recorded, and for as long as that is kept.

    items: mappings (of globals, modules, classes) and names in them. attributes: other objects', likewise.
    """

    def __init__(self, known: Reads | None = None) -> None:
        self.items: dict[tuple[int, str], tuple[Any, Mapping[str, Any], str, Any]] = {}
        self.attributes: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        if known is not None:
            self.items |= known.items
            self.attributes |= known.attributes

    def __bool__(self) -> bool:
        return bool(self.items or self.attributes)

    def item(self, owner: Any, mapping: Mapping[str, Any], name: str) -> Any:
        """What a mapping has there: one answer as long as this records, whoever changes it meanwhile."""
        key = id(owner), name
        if key not in self.items:
            self.items[key] = owner, mapping, name, mapping.get(name, NOTHING)
        return self.items[key][-1]

    def attribute(self, owner: Any, name: str) -> Any:
        key = id(owner), name
        if key not in self.attributes:
            self.attributes[key] = owner, name, _attribute(owner, name)
        return self.attributes[key][-1]

    def known(self, owner: Any, name: str, otherwise: Any) -> Any:
        """What an attribute was read as, if it was: else `otherwise`, and nothing is recorded."""
        found = self.attributes.get((id(owner), name))
        return otherwise if found is None else found[-1]

    def hold(self) -> bool:
        """Whether everything is as it was read."""
        for _, mapping, name, value in self.items.values():
            now = mapping.get(name, NOTHING)
            if now is not value and not alike(now, value):
                return False
        for owner, name, value in self.attributes.values():
            now = _attribute(owner, name)
            if now is not value and not alike(now, value):
                return False
        return True


def alike(a: Any, b: Any) -> bool:
    """Whether two objects are the same to compiled code: numbers of one type that no operation tells apart.

    1, 1.0 and True differ, and so do 0.0 and -0.0; NaN is NaN. Other things are themselves only.
    """
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, np.generic):
        return bool(a.dtype == b.dtype and a.tobytes() == b.tobytes())
    # A class of its own may be equal to anything, and be shown in any way.
    if isinstance(a, int):
        return int.__eq__(a, b)  # Python does not write thousands of digits
    for number in (float, complex):
        if isinstance(a, number):
            return number.__repr__(a) == number.__repr__(b)
    return False


_recorded: contextvars.ContextVar[Reads] = contextvars.ContextVar("reads")


@contextlib.contextmanager
def recording(reads: Reads) -> Iterator[None]:
    """Note in `reads` what is read meanwhile. What it has already is not looked up again."""
    token = _recorded.set(reads)
    try:
        yield
    finally:
        _recorded.reset(token)


def is_ours(owner: Any) -> bool:
    """Whether a function, class or module is of evenly's own."""
    module = owner.__name__ if isinstance(owner, ModuleType) else getattr(owner, "__module__", "")
    return str(module).partition(".")[0] == "evenly"


def _reads(owner: Any) -> Reads:
    """Where it is noted what is read of this owner, a function, class or module."""
    noted = None if is_ours(owner) else _recorded.get(None)
    return Reads() if noted is None else noted


# ---- reading ---------------------------------------------------------------------------------------
def code_of(function: Callable[..., Any]) -> CodeType:
    """What a function runs: it may be given another function's, as notebooks do that load modules anew."""
    found: CodeType = _reads(function).attribute(function, "__code__")
    return found


def name_of(function: Callable[..., Any], name: str) -> Any:
    """What a name from outside is to a function: NOTHING where it is not defined (yet)."""
    reads = _reads(function)
    code = reads.known(function, "__code__", function.__code__)
    if name in code.co_freevars:
        cell = (function.__closure__ or ())[code.co_freevars.index(name)]
        return reads.attribute(cell, "cell_contents")
    seen = function.__globals__
    found = reads.item(seen, seen, name)
    if found is not NOTHING:
        return found
    return reads.item(_BUILTINS, _BUILTINS, name)


def attribute_of(module: ModuleType, name: str) -> Any:
    """An attribute of a module, NOTHING where it has none."""
    found = _reads(module).item(module, vars(module), name)
    return found if found is not NOTHING else _reads(module).attribute(module, name)


def member_of(cls: type, name: str) -> Any:
    """A member of a class as it is written there (a function, a property); None where there is none."""
    reads = _reads(cls)
    for base in cls.__mro__:
        found = reads.item(base, vars(base), name)
        if found is not NOTHING:
            return found
    return None


def value_of(schedule: Any, name: str) -> Any:
    """A parameter of a schedule, or what else it has of that name, as its methods see it."""
    found = _reads(type(schedule)).attribute(schedule, name)
    return None if found is NOTHING else found


def defaults_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The defaults of a function's parameters, as they are: Python keeps them where the function was made."""
    reads = _reads(function)
    code = reads.known(function, "__code__", function.__code__)
    given = reads.attribute(function, "__defaults__") or ()
    named = reads.attribute(function, "__kwdefaults__") or {}
    count, alone = code.co_argcount, code.co_kwonlyargcount
    found = dict(zip(code.co_varnames[count - len(given) : count], given, strict=True))
    for name in code.co_varnames[count : count + alone]:
        value = reads.item(named, named, name)
        if value is not NOTHING:
            found[name] = value
    return found


_BUILTINS = vars(__import__("builtins"))


def _attribute(owner: Any, name: str) -> Any:
    try:
        return getattr(owner, name, NOTHING)
    except ValueError:  # a cell that is not filled yet (a recursive definition)
        return NOTHING


# ---- keeping ---------------------------------------------------------------------------------------
class Kept(dict[Any, list[tuple[Any, Reads]]]):
    """What was made for keys, each time with what was read for it: the last few of each key."""

    def found(self, key: Any, make: Callable[[], T], known: Reads | None = None) -> tuple[T, Reads]:
        """What was made for this key, and good now; else it is made. known: what has been read for it before."""
        made = self.setdefault(key, [])
        for thing, reads in made:
            if reads.hold():
                return thing, reads
        reads = Reads(known)
        with recording(reads):
            thing = make()
        made.insert(0, (thing, reads))
        del made[MOST:]
        return thing, reads


def kept(function: Callable[..., T]) -> Callable[..., T]:
    """`functools.cache` for what reads from outside."""
    made = Kept()

    @functools.wraps(function)
    def found(*key: Any) -> T:
        return made.found(key, lambda: function(*key))[0]

    return found
