"""evenly's own atomics with memory orders and scopes (device/orders.cuh)."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.targets.cuda.compile import OPTIONS
from evenly.targets.gpu import headers

pytestmark = pytest.mark.simt

SOURCE = """
EV_KERNEL(32) pass(int* data, int* flag, int* seen) {
  if (ev::block_rank() == 0) {
    data[0] = 42;
    ev::atomic_store<STORED>(flag, 1);
  } else {
    while (ev::atomic_load<LOADED>(flag) == 0) {}
    seen[0] = data[0];
  }
}
EV_KERNEL(32) locked(int* lock, int* n) {
  while (ev::atomic_compare_exchange<ev::acquire>(lock, 0, 1) != 0) {}
  n[0] += 1;
  ev::atomic_exchange<ev::release>(lock, 0);
}
EV_KERNEL(32) last_block(int* arrived, int* part) {
  part[ev::block_rank()] = 1;
  if (ev::atomic_add<ev::acq_rel>(arrived, 1) == 2) part[3] = part[0] + part[1] + part[2];
}
EV_KERNEL(32) both_say_and_look(int* said, int* saw) {
  const int me = ev::block_rank();
  ev::atomic_store<BOTH>(said + me, 1);
  saw[me] = ev::atomic_load<BOTH>(said + 1 - me);
}
EV_KERNEL(32) values(unsigned* u, long long* l, unsigned long long* m, float* f, double* d) {
  u[1] = ev::atomic_max<ev::acq_rel>(u, 3);
  ev::atomic_xor<ev::relaxed>(u, 1);
  ev::atomic_min<ev::acquire>(l, -5);
  ev::atomic_and<ev::release>(m, 6);
  ev::atomic_or<ev::seq_cst, ev::of_block>(m, 1);
  ev::atomic_store<ev::release>(f, 2);
  d[0] = ev::atomic_load<ev::seq_cst>(f);
  d[1] = ev::atomic_exchange<ev::acq_rel>(d, 7);
  ev::fence();
  ev::fence<ev::seq_cst, ev::of_block>();
}
"""


def with_orders(**orders: str) -> str:
    given = {"STORED": "ev::release", "LOADED": "ev::acquire", "BOTH": "ev::seq_cst", **orders}
    return "".join(f"#define {name} {order}\n" for name, order in given.items()) + SOURCE


@functools.cache
def program(**orders: str) -> ev.SimtProgram:
    return ev.SimtProgram(with_orders(**orders))


def zeros(n: int, dtype: Any = np.int32) -> np.ndarray:
    return np.zeros(n, dtype)


@pytest.mark.parametrize(
    ("kernel", "blocks", "last"),
    [("pass", 2, [42]), ("locked", 3, [3]), ("last_block", 3, [1, 1, 1, 3])],
)
def test_orders_order(kernel: str, blocks: int, last: list[int]) -> None:
    sizes = {"pass": (1, 1, 1), "locked": (1, 1), "last_block": (1, 4)}[kernel]
    explored = program().explore(kernel, blocks, 1, *map(zeros, sizes))
    assert explored.complete
    assert [o.arrays[-1].tolist() for o in explored.outcomes] == [last]


@pytest.mark.parametrize(
    "orders",
    [{"STORED": "ev::relaxed"}, {"LOADED": "ev::relaxed"}, {"LOADED": "ev::acquire, ev::of_block"}],
)
def test_less_than_release_and_acquire_is_a_race(orders: dict[str, str]) -> None:
    with pytest.raises(ev.SimtError, match="data race on array (data|flag)"):
        program(**orders).explore("pass", 2, 1, *map(zeros, (1, 1, 1)))


@pytest.mark.parametrize(("order", "outcomes"), [("ev::seq_cst", 3), ("ev::relaxed", 4)])
def test_store_buffering(order: str, outcomes: int) -> None:
    explored = program(BOTH=order).explore("both_say_and_look", 2, 1, zeros(2), zeros(2))
    assert explored.complete
    assert len(explored.outcomes) == outcomes


def test_values() -> None:
    types = np.uint32, np.int64, np.uint64, np.float32, np.float64
    u, l, m, f, d = (zeros(2, t) for t in types)  # noqa: E741
    m[0] = 15
    program().launch("values", 1, 1, u, l, m, f, d)
    assert [*u, l[0], m[0], f[0], *d] == [2, 0, -5, 7, 2, 7, 2]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("ev::atomic_load<ev::release>(x)", "a load releases nothing"),
        ("ev::atomic_store<ev::acquire>(x, 1)", "a store acquires nothing"),
        (
            "ev::atomic_add<ev::acq_rel>((float*)x, 1)",
            "ev::atomic_add with a memory order takes int",
        ),
        ("ev::fence<ev::relaxed>()", "ev::fence takes acquire"),
    ],
)
def test_what_is_not_there_is_refused_by_name(code: str, said: str) -> None:
    with pytest.raises(ev.InputError, match=f"source.cu:1: .*{said}"):
        ev.SimtProgram(f"EV_KERNEL(32) k(int* x) {{ {code}; }}")


def test_nvrtc_compiles_them() -> None:
    core = pytest.importorskip("cuda.core")
    options = core.ProgramOptions(arch="sm_80", **OPTIONS)
    core.Program(headers.text() + with_orders(), "c++", options).compile("cubin")
