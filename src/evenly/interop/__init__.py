"""Take and return arrays and matrices of other libraries: NumPy, CuPy, PyTorch, DLPack, SciPy, Matrix Market.

arrays, array_view, dlpack     any array, described; new ones of the same kind
device_array, context          GPU arrays for users who have neither CuPy nor PyTorch
vectors, matrices, narrow      dense operands, and floats of 16 bits
sparse                         sparse matrices
transfer, streams              copies between memories; CUDA streams
cccl                           sorting by NVIDIA's library
matrix_files, saved_arrays, matrix_market, market_lines, market_body, market_scan   files
generators, families/          random matrices
"""
