"""Compile a plan's kernels from their source with CuPy, and launch them on a stream and in a graph.

Needs an NVIDIA GPU, `pip install 'evenly[cu13]' cupy-cuda13x` (or [cu12] and cupy-cuda12x).

Run it: python examples/launch_cupy.py
"""

from __future__ import annotations

import numpy as np
from spmv import spmv

import evenly as ev
from evenly.interop.generators import rmat

# evenly uses the same options: C++17, and lambdas are device code.
OPTIONS = ("--std=c++17", "--device-as-default-execution-space")


def compiled(launches):
    """Compile the plan's CUDA C++ with CuPy. The source is complete: it includes no headers."""
    import cupy

    modules = [cupy.RawModule(code=item.source, options=OPTIONS) for item in launches]
    return [module.get_function(item.name) for module, item in zip(modules, launches, strict=True)]


def launch_all(kernels, launches):
    """Launch on CuPy's current stream."""
    for kernel, item in zip(kernels, launches, strict=True):
        kernel(item.grid, item.block, item.arguments)


def main(schedule=None):
    import cupy
    import cupyx.scipy.sparse

    matrix = rmat(10)
    A = cupyx.scipy.sparse.csr_matrix(matrix)
    x = cupy.asarray(np.random.default_rng(0).random(matrix.shape[1], dtype=np.float32))
    y = cupy.zeros(matrix.shape[0], np.float32)
    cupy.cuda.get_current_stream().synchronize()  # they were made on this one

    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:  # plans work on the current stream, and their workspace belongs to it
        plan = spmv.plan(A, x, y, schedule=schedule or ev.MergePath(), target="cuda")
        launches = plan.launches
        kernels = compiled(launches)
        launch_all(kernels, launches)
    stream.synchronize()
    np.testing.assert_allclose(y.get(), matrix @ x.get(), rtol=1e-4, atol=1e-6)

    with stream:
        y.fill(0)
        stream.begin_capture()
        launch_all(kernels, launches)
        graph = stream.end_capture()
        for _ in range(3):
            graph.launch(stream)
    stream.synchronize()
    np.testing.assert_allclose(y.get(), matrix @ x.get(), rtol=1e-4, atol=1e-6)
    return launches


if __name__ == "__main__":
    made = main()
    print(f"spmv, {len(made)} launches with CuPy, on a stream, in a graph: equals SciPy's")
