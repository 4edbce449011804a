"""Take and return arrays and matrices of other libraries: NumPy, CuPy, PyTorch, DLPack, SciPy, Matrix Market."""
