"""The kernel language: the subset of Python that says what is done to a tile and its atoms.

From a function to what targets emit:

    source, own_text, parse, syntax    the text, and the surface tree
    members                            what kernels see of a class of layouts
    reads, by_name                     the outside values that code reads; pickling
    specs, types, lower/, verify       the typed program (ir/), and the rules that it must keep
    cutting, slicing, phases, schedule_code   the phases that are launched, and a schedule's code for them
    tile_cutting, item_cutting         the cuts of loops over tiles, and over an item's tiles
    following, read_later              which pass may follow another at once; what a later one reads again
    exchange                           the setups of a schedule, run on the host
    names, func, intrinsics, combine   what kernels call, and how reductions combine
    operators                          Python's operators, by their signs
    items, dense, scans, scratch, emits, remarks   loops over items and lanes; scans; scratch arrays; emits; prints
    keyed                              reductions by a key, of several atoms at a time
    walk, renumbering                  traversals of a typed program, and a search for ids in it
    dependence                         what values depend on, for verify, lower/effects and slicing
    accesses                           how passes read memory: contiguously, by gathers, or early
    atomic_order                       whether results depend on the order of atomics
    beforehand, invariants             what the host can compute; what is read once for a tile
    locals, spread                     replace local variables in indices, and local arrays by variables
    diagnostics, depth                 locations in the source, and errors

Importing this package imports none of them.
"""
