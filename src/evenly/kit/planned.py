"""Algorithms that end in one call of a kernel: run it now (`Call`), or decide once and run it often (`Planned`)."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, ParamSpec, Protocol, cast

from evenly.errors import InputError
from evenly.interop import arrays
from evenly.kit.arguments import renamed
from evenly.runtime.bound import Bound
from evenly.runtime.bound_call import BoundCall
from evenly.runtime.plan import Plan

P = ParamSpec("P")
Q = ParamSpec("Q")
STAY = "none, since the plan's own arrays stay"


class Call(NamedTuple):
    """What an algorithm does once it has checked its arguments: call `kernel`, then return `out`.

    names: the caller's names of the kernel's parameters, where they differ. written: where the kernel writes instead,
    if not to `out`. turned: which arguments tell the order of a dense matrix (`kit.dense`), and what its name is.
    """

    kernel: Bound
    arguments: tuple[Any, ...]
    out: Any
    names: Mapping[str, str] = MappingProxyType({})
    written: Any = None
    turned: Mapping[int, str] = MappingProxyType({})

    def run(self, plan: Plan | None = None) -> Any:
        """Run the kernel, or a plan of it, and return `out`."""
        with renamed(**self.names):
            (plan or self.kernel)(*self.arguments)
        if self.written is not None:
            self.out[...] = self.written
        return self.out


class Planned:
    """An algorithm's call for which everything is decided: what `ev.linalg.spmm.plan(...)` returns, for example.

        product = ev.linalg.spmm.plan(A, B)
        C = product()

    `product()` computes the same again, with the values that the arrays have by then, and returns its `out`.
    Of `ev.linalg`, `product(B2)` and `product(B2, out=C2)` compute it for other dense operands of the same types. The
    matrix stays. If it is CSC or COO, as the transpose of a CSR matrix is, the plan keeps how its nonzeros are grouped
    by row.

    plan, arguments: the kernel's `ev.Plan`, for its launches, its workspace, `tune()`; what it was made of.
    schedule, target, out: as decided; the array of results.
    """

    def __init__(
        self, prepare: Callable[..., Call], operands: tuple[Any, ...] = (), out: Any = None
    ) -> None:
        """prepare(*operands, out=out) checks dense operands, and returns the call."""
        call = prepare(*operands, out=out)
        self._prepare, self._operands = prepare, operands
        with renamed(**call.names):
            self.plan: Plan = call.kernel.plan(*call.arguments)
        self.arguments, self.out = call.arguments, call.out
        self._strided = call.written is not None

    def __call__(self, *operands: Any, out: Any = None) -> Any:
        """Compute, and return `out`. Without arguments: with the operands and the `out` of the plan.

        Raises InputError for operands of other shapes, types or orders of memory.
        """
        count = len(self._operands)
        if operands and len(operands) != count:
            expected = f"none or {count}, as the plan has" if count else STAY
            raise InputError("operands", expected=expected, given=str(len(operands)))
        if out is None:
            out = None if operands else self.out
        call = self._prepare(*(operands or self._operands), out=out)
        self._check_orders(call)
        return call.run(self.plan)

    def _check_orders(self, call: Call) -> None:
        """Raise InputError for a matrix in Fortran order where the plan has one in C order, or the other way around.

        `call.turned` says where arguments tell the order of a matrix.
        """
        for at, name in call.turned.items():
            own, given = (x[at] for x in (self.arguments, call.arguments))
            if own != given:
                expected, found = (
                    "C order" if x is None else "Fortran order" for x in (own, given)
                )
                raise InputError(
                    name,
                    expected=f"an array in {expected}, as the plan was made for",
                    given=f"one in {found}",
                    hint="make a plan for these arguments",
                )

    def bind(self, *, stream: Any = None) -> BoundCall:
        """Return a call on the plan's own arrays that only launches, as `ev.Plan.bind` does.

        Raises InputError for an operand or an `out` that is neither in C nor in Fortran order.
        """
        read = {arrays.view(x).pointer for x in self.arguments if arrays.is_array(x)}
        if any(arrays.view(x).pointer not in read for x in self._operands):
            expected = "arrays in C or Fortran order, to read without a copy"
            raise InputError("operands", expected=expected, given="a strided one")
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


def plannable(prepare: Callable[P, Call]) -> WithPlan[P, P]:
    """Make an algorithm of a function that checks its arguments and returns a `Call`.

    It has the name, the parameters and the docstring of the function. `algorithm(...)` runs it, and
    `algorithm.plan(...)` returns a `Planned`, whose arguments stay. It refuses strided ones, except for `out`: it would
    read a copy of them again.
    """

    def plan(*args: P.args, **named: P.kwargs) -> Planned:
        _check_memory(inspect.signature(prepare).bind(*args, **named).arguments)
        call = prepare(*args, **named)

        def again(out: Any = None) -> Call:
            if out is not call.out:
                raise InputError("out", expected=STAY, given="another array")
            return call

        return Planned(again, out=call.out)

    @functools.wraps(prepare)
    def run(*args: P.args, **named: P.kwargs) -> Any:
        return prepare(*args, **named).run()

    plan.__doc__ = f"Return a `Planned` of `{prepare.__name__}`, which takes the same arguments."
    return with_plan(plan)(run)


def _check_memory(given: Mapping[str, Any]) -> None:
    for name, x in given.items():
        if name != "out" and arrays.is_array(x) and not arrays.view(x, name).contiguous:
            expected = "a contiguous array, which a plan reads at each call"
            hint = "make a contiguous copy, and keep its values up to date"
            raise InputError(name, expected=expected, given="a strided one", hint=hint)
