"""Choose a schedule for a layout and a kernel, from what is known before it runs.

    statistics, lengths, walks, reuse  measure the tiles, and what they gather; look: both at once
    task                               describes the kernel
    rows, model, cost, auto            predict what each schedule costs, and choose for `auto`
    rules                              where a kind of kernel or layout decides instead:
    again, columns, dense, items, streams   several passes, dense axes, items, much memory; powers: of two
    equal                              tiles of equal length, whose offsets a plan does not read
    candidates                         the schedules that are tried by measuring

Tuned numbers are data, one file for each architecture (gpus/).
"""
