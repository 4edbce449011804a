"""How long something takes, told apart from what else the machine does.

rounds   interleaved rounds within a budget, medians
calls    a clock of the host around whole calls
graphs   the GPU's own clock around launches, in replayed graphs (cuda.core alone)
"""
