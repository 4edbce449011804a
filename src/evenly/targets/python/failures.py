"""The errors of a kernel while it runs, with the line of the user's file."""

from __future__ import annotations

from types import CodeType, TracebackType

from evenly.errors import InputError


class RunError(InputError):
    """A mistake that is only found when the kernel runs. where: "file:line in function"."""

    where: str = ""

    def __str__(self) -> str:
        said = super().__str__()
        return f"{self.where}: {said}" if self.where else said

    def __reduce__(self) -> tuple[object, ...]:
        made, arguments, state = super().__reduce__()
        return made, arguments, {**state, "where": self.where}  # type: ignore[dict-item]


class OutOfBounds(RunError, IndexError):
    """An index that is negative, or not below the length of its axis."""


class DividedByZero(RunError, ZeroDivisionError):
    """An integer `//` or `%` by zero."""


class AssertionFailed(RunError, AssertionError):
    """An `assert` in a kernel whose condition does not hold."""


class BadValue(RunError):
    """A number for which the operation has no result, such as int(nan) or a shift by -1."""


def located(error: Exception, codes: dict[CodeType, str]) -> RunError:
    """Return `error` as a RunError that says where in the user's code it was raised.

    That is the innermost of the user's functions that was running. codes: the code objects of these functions, with
    their names.
    """
    said = error if isinstance(error, RunError) else _translated(error)
    traceback: TracebackType | None = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code in codes:
            said.where = f"{code.co_filename}:{traceback.tb_lineno} in {codes[code]}"
        traceback = traceback.tb_next
    return said


def _translated(error: Exception) -> RunError:
    if isinstance(error, ZeroDivisionError):
        hint = "test the divisor first; a float division gives inf or nan"
        return DividedByZero("integer division", expected="a divisor", given="0", hint=hint)
    return BadValue(
        "this operation", expected="numbers that it has an answer for", given=str(error)
    )
