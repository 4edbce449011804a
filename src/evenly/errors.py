"""The errors that evenly raises, and how they read.

A user's mistake is an :class:`InputError` (or the :class:`KernelError` family
of the kernel language); a missing tool or device is an
:class:`UnavailableError`; anything that is our own fault is an
:class:`InternalError`. All of them are an :class:`EvenlyError`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class EvenlyError(Exception):
    """The base of everything that evenly raises on purpose."""


class InputError(EvenlyError, ValueError):
    """An argument that cannot be used.

    `str()` is one line:

    >>> str(InputError("A.offsets", expected="offsets that do not fall", given="5 after 7"))
    'A.offsets: expected offsets that do not fall, got 5 after 7'

    argument: the argument (and its part) as the user knows it, "A.offsets".
    expected: what would have been right.
    given: what came instead.
    hint: what to do about it.
    """

    def __init__(
        self, argument: str, *, expected: str = "", given: str = "", hint: str = ""
    ) -> None:
        super().__init__(argument)
        self.argument = argument
        self.expected = expected
        self.given = given
        self.hint = hint

    def __str__(self) -> str:
        parts = []
        if self.expected:
            parts.append(f"expected {self.expected}")
        if self.given:
            parts.append(f"got {self.given}")
        said = ", ".join(parts) or "cannot be used"
        hint = f"; hint: {self.hint}" if self.hint else ""
        return one_line(f"{self.argument}: {said}{hint}")

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive Exception's own pickling, and
        # errors cross processes (pytest-xdist, multiprocessing).
        state = {"expected": self.expected, "given": self.given, "hint": self.hint}
        return (type(self), (self.argument,), state)


class KernelError(EvenlyError):
    """A kernel that the kernel language refuses (see language/diagnostics.py)."""


class UnavailableError(EvenlyError, RuntimeError):
    """Something that is not here: a target, a device, a library.

    what: what was asked for, "target 'cuda'".
    missing: what is missing, "no NVIDIA driver".
    remedy: how to get it.
    """

    def __init__(self, what: str, missing: str = "", remedy: str = "") -> None:
        super().__init__(what, missing, remedy)
        self.what = what
        self.missing = missing
        self.remedy = remedy

    def __str__(self) -> str:
        missing = f": {self.missing}" if self.missing else " is not available"
        remedy = f"; to get it: {self.remedy}" if self.remedy else ""
        return one_line(f"{self.what}{missing}{remedy}")


class InternalError(EvenlyError):
    """A mistake of evenly's own: please report it."""


def check_field_name(cls: type, name: str) -> None:
    """Refuse a field `__hash__` and its like: Python calls what a class has under such a name."""
    if is_pythons(name):
        raise InputError(
            f"{cls.__name__}.{name}",
            expected="another name for the field",
            given=repr(name),
            hint="names with two underscores at both ends are Python's own",
        )


def is_pythons(name: str) -> bool:
    """Whether a name is one of those that Python gives a meaning to: `__init__`."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__")


def one_line(text: str) -> str:
    """`text` with every run of white space (line breaks too) as one space, and all of it printable."""
    return printable(" ".join(text.split()))


def printable(text: str) -> str:
    """`text`, of a file's name or contents, with nothing that a terminal would obey or cannot encode.

    >>> printable("a\\x1b[31m\\udcff")
    'a\\\\x1b[31m\\\\udcff'
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def shown(text: str, most: int = 60) -> str:
    """`text` for a message: quoted, printable, cut."""
    return repr(text[:most]) + "..." * (len(text) > most)


# Other words for what has a name here.
_MEANT = {
    **dict.fromkeys(("gpu", "nvidia", "device", "cupy", "nvrtc", "ptx"), "cuda"),
    **dict.fromkeys(("host", "numba", "numpy", "native", "x86", "threads"), "cpu"),
    **dict.fromkeys(("emulator", "emulated", "simulator", "simulated", "sim"), "simt"),
    **dict.fromkeys(("reference", "interpreter", "interpreted", "py"), "python"),
    **dict.fromkeys(("default", "best", "any"), "auto"),
}


def unknown(kind: str, name: object, known: Iterable[str]) -> InputError:
    """The error for a name that is none of `known`, with the one that is meant, or the nearest, as hint.

    >>> str(unknown("layout", "crs", ["csr", "ell"]))
    "layout: expected one of csr, ell, got 'crs'; hint: did you mean 'csr'?"
    """
    names = sorted(known)
    original = {n.lower(): n for n in names}
    given = str(name).lower()
    meant = _MEANT.get(given)
    near = [meant] if meant in original else difflib.get_close_matches(given, original, n=1)
    hint = f"did you mean {original[near[0]]!r}?" if near else ""
    expected = "one of " + ", ".join(names) if names else f"no {kind} at all"
    return InputError(kind, expected=expected, given=repr(name), hint=hint)
