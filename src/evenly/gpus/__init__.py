"""What GPUs are, as far as work is divided by it; what was measured of them, one data file an architecture."""
