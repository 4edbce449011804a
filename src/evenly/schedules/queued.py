"""What the schedules have in common that put tasks into queues in device memory (targets/gpu/device/queued.cuh)."""

from __future__ import annotations

from .task_pool import TaskPool


class Queued(TaskPool):
    """Tasks that are put into a queue when they are made. `queue` says which (targets/gpu/engines/tasks.py)."""

    queue = ""
