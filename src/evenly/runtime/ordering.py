"""Put vectors into another order at each call, for `tuning.locality`."""

from __future__ import annotations

from typing import Any

from evenly.schedules import ThreadMapped
from evenly.tuning.locality import Places

from .kernel import kernel
from .plan import Plan


@kernel
def put_in_order(places, order, x, ordered):
    for place in places.tiles():
        ordered[place] = x[order[place]]


def ordering(places: Places, order: Any, x: Any, ordered: Any, target: str) -> Plan:
    """Make a plan that stores x[order] in `ordered`, both (n,), for a layout of n places."""
    plan: Plan = put_in_order[ThreadMapped()].on(target).plan(places, order, x, ordered)
    return plan
