"""Measure how long something takes, in a way that other load on the machine disturbs little.

busy     whether other programs keep the machine busy
rounds   interleaved rounds within a time budget, medians
race     the fastest of several, in few rounds
calls    the host's clock around whole calls
graphs   the GPU's clock around launches, in replayed CUDA graphs (needs only cuda.core)
"""
