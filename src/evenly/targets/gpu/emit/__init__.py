"""Emit typed phases as CUDA C++."""
