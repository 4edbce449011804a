"""The part that all GPU targets share: emit kernels as CUDA C++ text, and compute what their launches need.

kernels      the entry: emits all kernels of a program
engines/     the engines, which execute phases under a schedule, one file each (engine.py is their contract)
emit/        prints typed phases as text; the engines use it
device/      the headers that precede each kernel; headers.py joins them to one text
launching    turns arguments into launches: scratch memory, parameters; sizing: the grids and buffers of an engine
failures     the error for a kernel that no GPU can run

Nothing here compiles or launches. Target `cuda` does that on a GPU, `simt` on the CPU.
"""
