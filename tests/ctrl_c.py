"""Press Ctrl-C in the middle of tasks that never end: `python -m tests.ctrl_c TARGET SCHEDULE LAUNCHED`.

It prints how many seconds the call has gone on after that, how many threads there are more than before, and how many
tasks a call after it has run: 127.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Any

import numpy as np

import evenly as ev
from tests.tasks import halves

AFTER = 0.7  # seconds after which Ctrl-C is pressed


@ev.kernel
def endless(T, counts):
    for t in T.tiles():
        ev.atomic_add(counts, T.n(t) % 8, 1)
        T.push(T.n(t) + 1)


def main(target: str, schedule: str, launched: bool) -> None:
    def made(x: Any) -> Any:
        return x.to("cuda") if target == "cuda" else x

    def ints(n: int) -> Any:
        return ev.DeviceArray.from_numpy(np.zeros(n, np.int64)) if target == "cuda" else np.zeros(n, np.int64)  # fmt: skip

    signal.signal(signal.SIGINT, signal.default_int_handler)
    T = made(ev.tasks(n=np.int64, first=list(range(1000)), capacity=2000))
    ended = made(ev.tasks(n=np.int64, first=[], capacity=2000))
    counts = ints(8)
    plan = endless.plan(T, counts, schedule=schedule, target=target)
    plan(ended, counts)  # compiles
    before, pressed = threading.active_count(), []

    def press() -> None:
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(AFTER, press).start()
    try:
        if launched:
            plan(T, counts, wait=False)
            assert not pressed or target != "cuda", "the call has waited"
            _ = T.tasks_run
        else:
            plan(T, counts)
        print("never pressed")
    except KeyboardInterrupt:
        took = time.monotonic() - pressed[0]
        assert (len(T.remaining), T.tasks_run, T.most_waiting) == (0, 0, 0)
        H = made(ev.tasks(begin=np.int32, end=np.int32, first=[(0, 1000)], capacity=200))
        leaves, count = made(ev.output((np.int32, np.int32), capacity=200)), ints(1)
        halves[schedule].on(target)(H, leaves, count)
        plan(ended, counts)
        print(f"{took:.2f}", threading.active_count() - before, H.tasks_run)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:] == ["launched"])
