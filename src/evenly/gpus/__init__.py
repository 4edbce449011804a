"""What GPUs are (gpu.py), and what work costs on them: a data file for each GPU that was measured.

numbers    the numbers for a GPU, whether it was measured or not
scaling    those of another GPU, by its properties
kept       the files that `evenly fit` has written for this user
"""
