"""Launch a plan's kernels by hand with cuda.core: on a stream of your own, and in a CUDA graph.

Needs an NVIDIA GPU and `pip install 'evenly[cu13]'` (or [cu12]). The arrays are evenly's own;
those of CuPy and PyTorch work as well.

Run it: python examples/launch_cuda_core.py
"""

from __future__ import annotations

import numpy as np
from spmv import spmv

import evenly as ev
from evenly.interop.generators import rmat


def launch_all(launches, stream):
    """Launch as `plan(...)` does, but on any stream, or into a graph that is being built."""
    from cuda.core import launch

    for item in launches:
        launch(stream, item.config, item.kernel, *item.arguments)


def record(launches, device):
    """Record the launches in a CUDA graph. `graph.launch(stream)` replays all of them at once."""
    builder = device.create_graph_builder().begin_building()
    launch_all(launches, builder)
    return builder.end_building().complete()


def main(schedule=None):
    from cuda.core import Device

    device = Device()
    device.set_current()
    stream = device.create_stream()

    matrix = rmat(10)
    x = np.random.default_rng(0).random(matrix.shape[1]).astype(np.float32)
    A = ev.csr(matrix).to("cuda")
    x_there = ev.DeviceArray.from_numpy(x)
    y = ev.device_empty(matrix.shape[0], np.float32)

    # The launches hold the addresses of these arrays and of the plan's workspace: keep both.
    plan = spmv.plan(A, x_there, y, schedule=schedule or ev.MergePath(), target="cuda")
    launches = plan.launches
    device.sync()  # the workspace was allocated on the default stream

    launch_all(launches, stream)
    stream.sync()
    np.testing.assert_allclose(y.to_numpy(), matrix @ x, rtol=1e-4, atol=1e-6)

    y.fill_zero()
    graph = record(launches, device)
    for _ in range(3):
        graph.launch(stream)
    stream.sync()
    np.testing.assert_allclose(y.to_numpy(), matrix @ x, rtol=1e-4, atol=1e-6)
    return launches


if __name__ == "__main__":
    made = main()
    print(f"spmv, {len(made)} launches with cuda.core, on a stream, in a graph: equals SciPy's")
