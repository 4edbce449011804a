"""Pickle plans as the kernel, the choices and the arguments. Compiled code is not pickled: it is made again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenly.errors import InputError
from evenly.tuning.key import kernel_of

if TYPE_CHECKING:
    from .bound import Bound
    from .plan import Plan


def plan_parts(plan: Plan, bound: Bound | None, as_auto: bool) -> tuple[Any, ...]:
    """Return what `Plan.__reduce__` returns."""
    if bound is None:
        raise InputError(
            f"pickling {plan!r}",
            expected="a plan whose layouts have their own numbers",
            given="one by plan.tune(locality=True)",
            hint="pickle another plan, and call its tune(locality=True) in the other process",
        )
    arguments = tuple(plan._binding.arguments.values())
    program = kernel_of(plan._program)
    return planned, (bound, as_auto, arguments, plan._defaults, program, plan.tuning)


def planned(
    bound: Bound, as_auto: bool, arguments: Any, defaults: Any, program: str, tuning: Any
) -> Plan:
    """Make the plan again. Raises InputError if the kernel's text, or a value that it captures, has changed."""
    plan = bound.plan_as_auto(*arguments) if as_auto else bound.plan_of(arguments)
    if kernel_of(plan._program) != program:
        raise InputError(
            f"unpickling {plan!r}",
            expected="the kernel as it was when the plan was made, and what it captures",
            given="another one in this process",
            hint="make the plan here",
        )
    plan._defaults, plan.tuning = defaults, tuning
    return plan
