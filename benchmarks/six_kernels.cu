// CSR-scalar, CSR-vector, CSR-smart and ELL of Anzt et al. (ScalA 2017), written by hand after its description: a block an
// item, with the item's part of x in shared memory. COO and CSR-I are in src/evenly/bench/batched_atomics.cu.
//
// THREADS of a block are defined before. Offsets, slots and columns are int32; columns are numbered through the batch. An
// item has at most 1,024 columns.

#define STAGED                                                                          \
  __shared__ double staged[1024];                                                       \
  const int item = blockIdx.x, t = threadIdx.x, column0 = item_columns[item];           \
  for (int i = t; i < item_columns[item + 1] - column0; i += THREADS) staged[i] = x[column0 + i]; \
  __syncthreads();                                                                      \
  const double* xs = staged - column0
#define OF_CSR                                                                                                   \
  const int *__restrict__ item_rows, const int *__restrict__ item_columns, const int *__restrict__ offsets,      \
      const int *__restrict__ columns, const double *__restrict__ values, const double *__restrict__ x, double *__restrict__ y

// A vector of V threads a row, of the rows first .. last-1.
template <int V>
__device__ __forceinline__ void rows_by_vectors(int first, int last, const int* offsets, const int* columns, const double* values,
                                                const double* xs, double* y) {
  const int lane = threadIdx.x % V, vectors = THREADS / V, rounds = (last - first + vectors - 1) / vectors;
  int row = first + threadIdx.x / V;
  for (int i = 0; i < rounds; ++i, row += vectors) {  // whole warps: one shuffle serves all vectors of a warp
    double sum = 0;
    if (row < last)
      for (int k = offsets[row] + lane, end = offsets[row + 1]; k < end; k += V) sum += values[k] * xs[columns[k]];
    #pragma unroll
    for (int away = V / 2; away > 0; away /= 2) sum += __shfl_down_sync(0xffffffffu, sum, away, V);
    if (lane == 0 && row < last) y[row] = sum;
  }
}

extern "C" __global__ void __launch_bounds__(THREADS) csr_scalar(OF_CSR) {
  STAGED;
  for (int row = item_rows[item] + t, last = item_rows[item + 1]; row < last; row += THREADS) {
    double sum = 0;
    for (int k = offsets[row], end = offsets[row + 1]; k < end; ++k) sum += values[k] * xs[columns[k]];
    y[row] = sum;
  }
}

extern "C" __global__ void __launch_bounds__(THREADS) csr_vector(OF_CSR) {
  STAGED;
  rows_by_vectors<32>(item_rows[item], item_rows[item + 1], offsets, columns, values, xs, y);
}

extern "C" __global__ void __launch_bounds__(THREADS) csr_smart(OF_CSR) {
  STAGED;
  const int first = item_rows[item], last = item_rows[item + 1];
  const int mean = first < last ? (offsets[last] - offsets[first]) / (last - first) : 1;
  int size = 1;
  while (size < mean && size < 32) size *= 2;
  switch (size) {
    case 1: return rows_by_vectors<1>(first, last, offsets, columns, values, xs, y);
    case 2: return rows_by_vectors<2>(first, last, offsets, columns, values, xs, y);
    case 4: return rows_by_vectors<4>(first, last, offsets, columns, values, xs, y);
    case 8: return rows_by_vectors<8>(first, last, offsets, columns, values, xs, y);
    case 16: return rows_by_vectors<16>(first, last, offsets, columns, values, xs, y);
    default: return rows_by_vectors<32>(first, last, offsets, columns, values, xs, y);
  }
}

// Slot j of row r of an item lies at item_slots[item] + j * (rows of the item) + r.
extern "C" __global__ void __launch_bounds__(THREADS) ell(const int* __restrict__ item_rows, const int* __restrict__ item_columns,
    const int* __restrict__ item_slots, const int* __restrict__ item_widths, const int* __restrict__ columns,
    const double* __restrict__ values, const double* __restrict__ x, double* __restrict__ y) {
  STAGED;
  const int first = item_rows[item], rows = item_rows[item + 1] - first, width = item_widths[item];
  for (int r = t; r < rows; r += THREADS) {
    double sum = 0;
    #pragma unroll 4
    for (int j = 0, slot = item_slots[item] + r; j < width; ++j, slot += rows) sum += values[slot] * xs[columns[slot]];
    y[first + r] = sum;
  }
}
