"""Calls of algorithms: what they hand to a kernel, once (`Call`) or many times (`Planned`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, ParamSpec, Protocol, cast

from evenly.errors import InputError
from evenly.runtime.bound_call import BoundCall
from evenly.runtime.plan import Plan


class Call(NamedTuple):
    """The arguments of a kernel, and the caller's `out`. written: where the kernel writes instead, if not there."""

    arguments: tuple[Any, ...]
    out: Any
    written: Any = None

    def run(self, kernel: Any) -> Any:
        """Run the kernel, or a plan of it, and return `out`."""
        kernel(*self.arguments)
        if self.written is not None:
            self.out[...] = self.written
        return self.out


class Planned:
    """An algorithm's call for which everything is decided: what `ev.linalg.spmm.plan(...)` returns, for example.

        product = ev.linalg.spmm.plan(A, B)
        C = product()

    `product()` computes the same again, with the values that the arrays have by then, and returns its `out`.
    `product(B2)`, `product(B2, out=C2)`: for other dense operands of the same types. The matrix stays. If it is CSC or
    COO, as the transpose of a CSR matrix is, the plan keeps how its nonzeros are grouped by row.

    plan, arguments: the kernel's `ev.Plan`, for its launches, its workspace, `tune()`; what it was made of.
    schedule, target, out: as decided; the array of results.
    """

    def __init__(
        self, kernel: Any, prepare: Callable[..., Call], operands: tuple[Any, ...], out: Any
    ) -> None:
        """prepare(*operands, out=out) checks dense operands, and returns the arguments of `kernel`."""
        call = prepare(*operands, out=out)
        self._prepare, self._operands = prepare, operands
        self.plan: Plan = kernel.plan(*call.arguments)
        self.arguments, self.out = call.arguments, call.out
        self._strided = call.written is not None

    def __call__(self, *operands: Any, out: Any = None) -> Any:
        """Compute, and return `out`. Without arguments: with the operands and the `out` of the plan.

        Raises InputError for operands of other shapes or types.
        """
        if out is None:
            out = None if operands else self.out
        return self._prepare(*(operands or self._operands), out=out).run(self.plan)

    def bind(self, *, stream: Any = None) -> BoundCall:
        """Return a call on the plan's own arrays that only launches, as `ev.Plan.bind` does.

        Raises InputError for an `out` that is neither in C nor in Fortran order.
        """
        if self._strided:
            expected = "an array in C or Fortran order, to write to without a copy"
            raise InputError("out", expected=expected, given="a strided one")
        return self.plan.bind(*self.arguments, stream=stream)

    @property
    def schedule(self) -> Any:
        return self.plan.schedule

    @property
    def target(self) -> str:
        return self.plan.target

    def __repr__(self) -> str:
        return repr(self.plan).replace("<Plan", "<Planned")


P = ParamSpec("P")
Q = ParamSpec("Q")


class WithPlan(Protocol[P, Q]):
    """A function that has a plan, as an attribute."""

    plan: Callable[Q, Planned]

    def __call__(self, *args: P.args, **named: P.kwargs) -> Any: ...


def with_plan(plan: Callable[Q, Planned]) -> Callable[[Callable[P, Any]], WithPlan[P, Q]]:
    """Return a decorator that makes `plan` the attribute of this name of a function."""

    def add(function: Callable[P, Any]) -> WithPlan[P, Q]:
        made = cast("WithPlan[P, Q]", function)
        made.plan = plan
        return made

    return add
