"""The kernel language: the subset of Python that says what is done to a tile and its atoms.

From a function to what targets emit:

    source, own_text, parse, syntax    the text, and the surface tree
    members                            what kernels see of a class of layouts
    reads, by_name                     the outside values that code reads; pickling
    specs, types, lower/, verify       the typed program (ir/), and the rules that it must keep
    cutting, slicing, phases, schedule_code   the phases that are launched, and a schedule's code for them
    names, func, intrinsics, combine   what kernels call, and how reductions combine
    walk, renumbering                  traversals of a typed program, and a search for ids in it
    dependence                         what values depend on, for verify, lower/effects and slicing
    accesses                           how passes read memory: contiguously, by gathers, or early
    atomic_order                       whether results depend on the order of atomics
    locals                             replaces local variables in indices
    diagnostics, depth                 locations in the source, and errors

Importing this package imports none of them.
"""
