"""What schedules need to know of a GPU (gpu.py), and tuned numbers: one data file for each architecture."""
