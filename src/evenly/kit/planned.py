"""Algorithms that end in one call of a kernel: run it now, or decide everything once and run it often."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, ParamSpec, Protocol, cast

from evenly.kit.arguments import renamed
from evenly.runtime.bound import Bound
from evenly.runtime.plan import Plan

P = ParamSpec("P")


class Call(NamedTuple):
    """What an algorithm does once it has checked its arguments: call `kernel`, then return `out`.

    names: the caller's names of the kernel's parameters, where they differ.
    """

    kernel: Bound
    args: tuple[Any, ...]
    out: Any
    names: dict[str, str]


class Planned:
    """An algorithm with its arguments, which have been checked: `planned()` runs it, and returns the result.

    The result is the same array each time. Values are read at each call, as a plan reads them.

    plan: the `ev.Plan` of its kernel. arguments: what it is called with; `planned.plan.bind(*planned.arguments)` only
      launches. out: the result.
    """

    __slots__ = ("arguments", "out", "plan")

    def __init__(self, plan: Plan, arguments: tuple[Any, ...], out: Any) -> None:
        self.plan, self.arguments, self.out = plan, arguments, out

    def __call__(self) -> Any:
        self.plan(*self.arguments)
        return self.out

    def __repr__(self) -> str:
        return f"<Planned {self.plan!r}>"


class Algorithm(Protocol, Generic[P]):
    """What `plannable` makes: a function, with `plan`, which takes the same arguments."""

    def __call__(self, *args: P.args, **named: P.kwargs) -> Any: ...

    def plan(self, *args: P.args, **named: P.kwargs) -> Planned: ...


def plannable(prepare: Callable[P, Call]) -> Algorithm[P]:
    """Make an algorithm of a function that checks its arguments and returns a `Call`.

    It has the name, the parameters and the docstring of the function. `algorithm(...)` runs it, and
    `algorithm.plan(...)` returns a `Planned`.
    """

    @functools.wraps(prepare)
    def run(*args: P.args, **named: P.kwargs) -> Any:
        call = prepare(*args, **named)
        with renamed(**call.names):
            call.kernel(*call.args)
        return call.out

    def plan(*args: P.args, **named: P.kwargs) -> Planned:
        call = prepare(*args, **named)
        with renamed(**call.names):
            made = call.kernel.plan(*call.args)
        return Planned(made, call.args, call.out)

    plan.__doc__ = f"Return a `Planned` of `{prepare.__name__}`, which takes the same arguments."
    run.plan = plan  # type: ignore[attr-defined]
    return cast(Algorithm[P], run)
