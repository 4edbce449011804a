"""Emit typed phases as CUDA C++. The engines (../engines) choose among the writers here.

unit, code, parameters, lines      a program's kernels: what they share, and what they become
statements, expressions, scopes, unrolled   code that one thread runs
led, agreed, contended, partial    code that a team runs: its leader's effects, and agreement
owner, tile_loop, batches, held, kept, running, shared_lanes   a whole tile that a thread or a team owns
items, item_split, several         the tiles of an item; teams of several blocks
dense, spread, spread_split, columns   threads along a dense axis around passes
known                              what the host knows of arguments, for which code is compiled alone
along, ahead, dense_inside, dense_both, dense_keyed, split_apart   and along one inside
phase_struct, schedule_struct, layout_struct, early_loads, runs, following   what engines take that split tiles
totals, scratch, processor         reductions over the grid; memory of a tile's own; indices and ranks
"""
