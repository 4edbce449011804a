"""From typed phases to CUDA C++."""
