"""What every GPU has in common: kernels of CUDA C++, as text, and what their launches need.

kernels      the entry: from a program's phases to kernels
engines/     what executes a phase under a schedule, one file each; engine: their contract
emit/        from typed phases to text: what the engines write with
device/      the headers that stand in front of each kernel; headers: as one text
launching    from arguments to launches: scratch memory, parameters; sizing: grids and buffers, as engines give them
failures     what a user is told of a kernel that no GPU runs

Nothing here compiles or launches: `cuda` does that on a GPU, `simt` on the CPU.
"""
