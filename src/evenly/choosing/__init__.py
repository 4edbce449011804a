"""Which schedule suits a layout and a kernel, from what is known beforehand.

    statistics, lengths, scatter       of the tiles, and of what they gather
    task                               of the kernel
    model, auto                        what each schedule costs, and the rule of `auto`
    equal                              tiles of equal length, whose offsets a plan does not read
    candidates                         the schedules that are tried where something is measured

Tuned numbers are data, one file an architecture (gpus/).
"""
