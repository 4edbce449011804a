// SpMV by hand: what somebody writes who wants this one product, over CSR, on a GPU, and nothing else. Beside it stands
// what evenly generates for the same algorithm with the same parameters; the difference is what the abstraction costs.
//
// `real` (float or double) is defined when this is compiled. Offsets and columns are int32. No atomics: equal bits always.

// Every WIDTH-th product from `first` on, ITEMS_AT_ONCE of them at a time: nothing but a predicate stands before their loads.
template <int ITEMS_AT_ONCE, int WIDTH> __device__ __forceinline__ real strided_sum(int first, int end, const int* __restrict__ columns,
    const real* __restrict__ values, const real* __restrict__ x) {
  real sum = 0;
  #pragma unroll 1
  for (; first < end; first += ITEMS_AT_ONCE * WIDTH) {
    real product[ITEMS_AT_ONCE];
    #pragma unroll
    for (int i = 0; i < ITEMS_AT_ONCE; ++i) {
      int k = first + i * WIDTH;
      product[i] = 0;
      if (k < end) product[i] = values[k] * x[columns[k]];
    }
    #pragma unroll
    for (int i = 0; i < ITEMS_AT_ONCE; ++i) sum += product[i];
  }
  return sum;
}

// ---- a thread a row (ThreadMapped) ------------------------------------------------------------------------------------
extern "C" __global__ void __launch_bounds__(256) thread_mapped(const int* __restrict__ offsets, const int* __restrict__ columns,
    const real* __restrict__ values, const real* __restrict__ x, real* __restrict__ y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  y[row] = strided_sum<5, 1>(offsets[row], offsets[row + 1], columns, values, x);
}

// ---- a warp a row (WarpMapped) ----------------------------------------------------------------------------------------
extern "C" __global__ void __launch_bounds__(256) warp_mapped(const int* __restrict__ offsets, const int* __restrict__ columns,
    const real* __restrict__ values, const real* __restrict__ x, real* __restrict__ y, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;  // the whole warp together
  real sum = strided_sum<4, 32>(offsets[row] + lane, offsets[row + 1], columns, values, x);
  for (int away = 16; away > 0; away /= 2) sum += __shfl_down_sync(0xffffffffu, sum, away);
  if (lane == 0) y[row] = sum;
}
