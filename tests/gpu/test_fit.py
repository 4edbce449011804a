"""`evenly fit` on a GPU: what it knows of the GPU, and what it measures."""

from __future__ import annotations

import pytest

from evenly.bench.families import of_families
from evenly.fitting.cases import looked_at
from evenly.fitting.measuring import OnGpu
from evenly.fitting.tasks import SCHEDULES, TASKS, Named
from evenly.layouts import csr

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_a_kernel_is_measured_under_schedules(task: Named) -> None:
    place = OnGpu()
    matrix = of_families(3, 20_000)[8].make().astype(task.dtype)
    A = place.layout(matrix)
    found = place.times(A, task)
    assert set(found) <= set(map(str, SCHEDULES))
    assert len(found) > 20
    assert min(found.values()) > 0
    here, there = (looked_at(layout, task) for layout in (csr(matrix), A))
    assert (here.st, here.reuse, here.walks) == (there.st, there.reuse, there.walks)


def test_the_properties_of_the_gpu_are_known() -> None:
    place = OnGpu()
    assert place.gpu.name and place.architecture.startswith("sm_")
    assert place.gpu.l2 > 1_000_000
    assert 50_000 < place.gpu.bandwidth < 50_000_000  # bytes a us
    assert 300 < place.gpu.clock < 5_000
    assert place.memory > 1 << 30
