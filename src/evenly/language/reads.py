"""Record the outside values that code reads: names of functions, attributes of modules, members of classes, defaults.

All code that is lowered is read by the functions below. Whoever keeps the result records the reads
(`recording`). The result is valid for as long as everything that was read is unchanged: `Reads.hold`. Only
recorded reads count, so there is no need to guess which attributes code may use, or how deep to look.

evenly's own modules do not change, and are not recorded.
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
MOST = 256  # how many values are kept for one key


class Reads:
    """Outside places that were read, each with the value found there. It is kept with what was made of them.

    items: names in mappings (of globals, modules, classes). attributes: those of other objects.
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
        """Return what a mapping has under a name. While this records, the answer is the same even if that changes."""
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
        """Return the value of an attribute if it has been read, else `otherwise`. Nothing is recorded."""
        found = self.attributes.get((id(owner), name))
        return otherwise if found is None else found[-1]

    def hold(self) -> bool:
        """Whether everything still has the value that was read."""
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

    1, 1.0 and True differ, and so do 0.0 and -0.0; NaN is NaN. Other objects are compared by identity.
    """
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, np.generic):
        return bool(a.dtype == b.dtype and a.tobytes() == b.tobytes())
    # Do not use `==` or `str`, which a subclass may override.
    if isinstance(a, int):
        return int.__eq__(a, b)  # Python refuses to write integers of thousands of digits
    for number in (float, complex):
        if isinstance(a, number):
            return number.__repr__(a) == number.__repr__(b)
    return False


_recorded: contextvars.ContextVar[Reads] = contextvars.ContextVar("reads")


@contextlib.contextmanager
def recording(reads: Reads) -> Iterator[None]:
    """Record reads in this context. What `reads` has already is not looked up again."""
    token = _recorded.set(reads)
    try:
        yield
    finally:
        _recorded.reset(token)


def is_ours(owner: Any) -> bool:
    """Whether a function, class or module is part of evenly."""
    module = owner.__name__ if isinstance(owner, ModuleType) else getattr(owner, "__module__", "")
    return str(module).partition(".")[0] == "evenly"


def _reads(owner: Any) -> Reads:
    """Return where reads of this owner are recorded, a function, class or module."""
    noted = None if is_ours(owner) else _recorded.get(None)
    return Reads() if noted is None else noted


# ---- reading ---------------------------------------------------------------------------------------
def code_of(function: Callable[..., Any]) -> CodeType:
    """Return a function's code. It may be replaced, for example by notebooks that reload modules."""
    found: CodeType = _reads(function).attribute(function, "__code__")
    return found


def name_of(function: Callable[..., Any], name: str) -> Any:
    """Return what a global name means in a function, or NOTHING if it is not defined (yet)."""
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
    """Return an attribute of a module, or NOTHING if there is none."""
    found = _reads(module).item(module, vars(module), name)
    return found if found is not NOTHING else _reads(module).attribute(module, name)


def member_of(cls: type, name: str) -> Any:
    """Return a member of a class as it is defined (a function, a property), or None."""
    reads = _reads(cls)
    for base in cls.__mro__:
        found = reads.item(base, vars(base), name)
        if found is not NOTHING:
            return found
    return None


def value_of(schedule: Any, name: str) -> Any:
    """Return a parameter of a schedule, or another attribute, as its methods see it."""
    found = _reads(type(schedule)).attribute(schedule, name)
    return None if found is NOTHING else found


def defaults_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the current defaults of a function's parameters."""
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
    """A cache of results. Each is stored with the values that were read for it; each key has the last few."""

    def found(self, key: Any, make: Callable[[], T], known: Reads | None = None) -> tuple[T, Reads]:
        """Return a valid result for this key, or make one. known: what has been read for it before."""
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
    """Cache a function that reads outside values, as `functools.cache` does for other functions."""
    made = Kept()

    @functools.wraps(function)
    def found(*key: Any) -> T:
        return made.found(key, lambda: function(*key))[0]

    return found
