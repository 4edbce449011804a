"""The errors that evenly raises, and the text of their messages.

A user's mistake is an :class:`InputError`, or a :class:`KernelError` if it is in the
code of a kernel. A missing tool or device is an :class:`UnavailableError`. A mistake of
evenly's own is an :class:`InternalError`. All of them are subclasses of
:class:`EvenlyError`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class EvenlyError(Exception):
    """The base class of all errors that evenly raises on purpose."""


class InputError(EvenlyError, ValueError):
    """An argument that cannot be used.

    `str()` is one line:

    >>> str(InputError("A.offsets", expected="offsets that do not fall", given="5 after 7"))
    'A.offsets: expected offsets that do not fall, got 5 after 7'

    argument: the user's name for the argument, or a part of it: "A.offsets".
    expected: what is accepted.
    given: what was passed.
    hint: how to correct it.
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
        # Exception's own pickling loses keyword-only arguments, and errors are sent
        # between processes (multiprocessing, pytest-xdist).
        state = {"expected": self.expected, "given": self.given, "hint": self.hint}
        return (type(self), (self.argument,), state)


class KernelError(EvenlyError):
    """The kernel language does not accept a kernel (see language/diagnostics.py)."""


class UnavailableError(EvenlyError, RuntimeError):
    """A target, device or library is not available on this machine.

    what: what was requested: "target 'cuda'".
    missing: what is missing: "no NVIDIA driver".
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
    """A mistake in evenly itself. Please report it."""


def check_field_name(cls: type, name: str) -> None:
    """Raise InputError for a field with a name such as `__hash__`, which has a meaning to Python."""
    if is_pythons(name):
        raise InputError(
            f"{cls.__name__}.{name}",
            expected="another name for the field",
            given=repr(name),
            hint="names with two underscores at both ends are Python's own",
        )


def is_pythons(name: str) -> bool:
    """Whether a name begins and ends with two underscores, such as `__init__`."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__")


def one_line(text: str) -> str:
    """Make `text` printable and one line: each run of white space becomes one space."""
    return printable(" ".join(text.split()))


def printable(text: str) -> str:
    """Escape characters of `text` that would control a terminal, or that it cannot encode.

    >>> printable("a\\x1b[31m\\udcff")
    'a\\\\x1b[31m\\\\udcff'
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def shown(text: str, most: int = 60) -> str:
    """Quote `text` for a message, printable and cut to `most` characters."""
    return repr(text[:most]) + "..." * (len(text) > most)


# Words that users may know for names of evenly.
_MEANT = {
    **dict.fromkeys(("gpu", "nvidia", "device", "cupy", "nvrtc", "ptx"), "cuda"),
    **dict.fromkeys(("host", "numba", "numpy", "native", "x86", "threads"), "cpu"),
    **dict.fromkeys(("emulator", "emulated", "simulator", "simulated", "sim"), "simt"),
    **dict.fromkeys(("reference", "interpreter", "interpreted", "py"), "python"),
    **dict.fromkeys(("default", "best", "any"), "auto"),
}


def unknown(kind: str, name: object, known: Iterable[str]) -> InputError:
    """Make the error for a name that is none of `known`. Its hint is the name that is meant, or the nearest one.

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
