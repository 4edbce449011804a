"""What was measured of GPUs: one data file an architecture, and who reads it."""
