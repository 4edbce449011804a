"""Golden files: what evenly emits for one kernel, an engine a file.

    cuda/   CUDA C++, without the device headers
    cpu/    Python for Numba

A file of `cuda/` has all kernels of its engine. Those that share what stands before them, such as `struct Phase`,
share it here, too: each file is one translation unit.

A change of an emitter shows here as a diff that a reviewer can read. tests/targets/test_golden.py emits
every file anew and compares it byte for byte.

python -m tests.golden        rewrites them
"""
