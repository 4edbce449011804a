"""What every GPU has in common: kernels of CUDA C++, as text, and what their launches need.

emit/        from typed phases to kernels
device/      the headers that stand in front of each kernel; headers: as one text
launching    from arguments to launches: grids, scratch memory, parameters

Nothing here compiles or launches: `cuda` does that on a GPU, `simt` on the CPU.
"""
