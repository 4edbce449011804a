"""What captured launches need stays as long as the graph, with a driver that only takes notes."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from evenly.targets.cuda import retained


class Thing:
    pass


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], int]]:
    """The graphs that things were given to. Calling one does what the driver does when a graph is gone."""
    driver = pytest.importorskip("cuda.bindings.driver")
    made: list[Callable[[], int]] = []
    status = driver.CUstreamCaptureStatus
    active, none = status.CU_STREAM_CAPTURE_STATUS_ACTIVE, status.CU_STREAM_CAPTURE_STATUS_NONE

    def create(at: int, post: Any, count: int, flags: int) -> tuple[int, Any]:
        assert int(post) == retained._pointer(retained._library().sem_post) and count == 1
        return 0, lambda: retained._library().sem_post(at)

    def retain(graph: str, thing: Callable[[], int], count: int, flags: int) -> tuple[int]:
        assert graph == "graph" and count == 1
        made.append(thing)
        return (0,)

    monkeypatch.setattr(
        driver,
        "cuStreamGetCaptureInfo",
        lambda stream: (0, active if stream == 7 else none, 3, "graph", [], 0),
    )
    monkeypatch.setattr(driver, "cuUserObjectCreate", create)
    monkeypatch.setattr(driver, "cuGraphRetainUserObject", retain)
    return made


def test_a_graph_keeps_what_its_launches_need_and_lets_go_of_it(
    graphs: list[Callable[[], int]],
) -> None:
    things = [Thing(), Thing()]
    alive = [weakref.ref(x) for x in things]
    for x in things:
        retained.retain(7, [x])
    del things, x
    gc.collect()
    retained.let_go()
    assert len(graphs) == 2 and all(x() for x in alive)
    graphs[1]()
    assert alive[1]()  # the driver's thread does not run Python
    retained.let_go()
    assert alive[0]() and not alive[1]()
    graphs[0]()
    retained.let_go()
    assert not alive[0]()


def test_a_stream_that_is_not_captured_keeps_nothing(graphs: list[Callable[[], int]]) -> None:
    thing = Thing()
    alive = weakref.ref(thing)
    retained.retain(8, thing)
    del thing
    gc.collect()
    assert not graphs and not alive()
