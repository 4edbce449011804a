"""Kernels, plans and bound calls: everything from a user's call to the launches (docs/how_a_call_flows.md).

kernel, parameters         what `@ev.kernel` makes; its parameters
bound                      a kernel with the choices made: schedule, target, options
plan, trials, pickling     what is decided once; what `tune` measures of it; plans in files
bound_call                 a plan with its arguments
observed                   a plan's own call, as `plan.profile()` and `plan.trace()` look at it
call_cache, alike, inside  a call like an earlier one
addresses                  the same, with arrays at other addresses
frontiers                  calls of kernels that push
entries, gluing, looking, ordering   kernels by which lower floors work on a GPU (see `hooks`)
"""
