"""Which schedule.

    auto, model, task, statistics      predicted: costs, from statistics of the tiles and of what the kernel does
    tune, winners, locality            measured, and remembered; columns numbered anew
    equal                              tiles of equal length, whose offsets a plan does not read
    explain, balance                   told: why, and how evenly

Tuned numbers are data, one file an architecture (gpus/).
"""
