"""What is done to a tile and its atoms: the subset of Python that kernels are written in.

From a function to what targets emit:

    source, own_text, parse, syntax    the text, and the surface tree
    members                            what kernels see of a class of layouts
    reads, by_name                     what code reads from outside; pickling
    specs, types, lower/, verify       types known: the typed program (ir), and what it must keep
    cutting, slicing, phases, schedule_code   what is launched, one after the other, and a schedule's code for it
    names, func, intrinsics, combine   what kernels call, and how reductions combine
    walk, renumbering                  looking through a typed program
    dependence                         what values depend on: verify, lower/effects and slicing ask it
    accesses                           how passes read memory: contiguously, by gathers, what can be asked for early
    locals                             places said by the atom where they were said by locals
    diagnostics, depth                 places in the source, and refusals

Importing this imports none of them.
"""
