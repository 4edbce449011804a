"""Arrays and matrices in and out: NumPy, CuPy, PyTorch, DLPack, SciPy, Matrix Market."""
