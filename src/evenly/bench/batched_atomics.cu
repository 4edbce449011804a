// COO and CSR-I of Anzt, Collins, Dongarra, Flegar, Quintana-Orti, "Flexible Batched Sparse Matrix-Vector Product on GPUs"
// (ScalA 2017), written by hand after its description: a block an item, with the item's part of x in shared memory; a warp
// a piece of the item's nonzeros; float atomics on y, which is 0 before. Beside them stand evenly's, without atomics.
//
// Offsets, rows and columns are int32, numbered through the batch. An item has at most 1,024 columns.

constexpr int THREADS = 256, WARPS = THREADS / 32, NOBODY = 0x7fffffff;
constexpr unsigned ALL = 0xffffffffu;

// The row of a nonzero: stored beside it, or found by walking the offsets from the warp's first row.
struct stored_rows {
  const int* rows;
  __device__ __forceinline__ int at(int k) { return rows[k]; }
};
struct walked_rows {
  const int* offsets;
  int row, end;
  __device__ __forceinline__ int at(int k) {
    while (k >= end) end = offsets[++row + 1];
    return row;
  }
};

// Add the sums of a warp's lanes to y, an atomic for each row: a scan along lanes of one row, then its last lane adds.
__device__ __forceinline__ void add(int row, double sum, int lane, double* y) {
  for (int away = 1; away < 32; away *= 2) {
    const double before = __shfl_up_sync(ALL, sum, away);
    const int row_before = __shfl_up_sync(ALL, row, away);
    if (lane >= away && row_before == row) sum += before;
  }
  const int next = __shfl_down_sync(ALL, row, 1);
  if (row != NOBODY && (lane == 31 || next != row)) atomicAdd(y + row, sum);
}

// The nonzeros from .. to-1 of a warp, 32 at a time. A lane keeps its sum while no lane comes to another row.
template <class Rows, class X>
__device__ __forceinline__ void multiply(Rows rows, int from, int to, const int* columns, const double* values, const X& xs,
    int column0, double* y) {
  const int lane = threadIdx.x % 32;
  int row = from + lane < to ? rows.at(from + lane) : NOBODY;
  double sum = 0;
  for (int k = from + lane; k - lane < to; k += 32) {
    const int here = k < to ? rows.at(k) : NOBODY;
    if (__any_sync(ALL, here != row)) {
      add(row, sum, lane, y);
      sum = 0;
      row = here;
    }
    if (k < to) sum += values[k] * xs[columns[k] - column0];
  }
  add(row, sum, lane, y);
}

extern "C" __global__ void __launch_bounds__(256) coo_atomics(const int* __restrict__ item_atoms, const int* __restrict__ item_columns,
    const int* __restrict__ rows, const int* __restrict__ columns, const double* __restrict__ values,
    const double* __restrict__ x, double* __restrict__ y) {
  __shared__ double xs[1024];
  const int item = blockIdx.x, t = threadIdx.x, column0 = item_columns[item], width = item_columns[item + 1] - column0;
  for (int i = t; i < width; i += THREADS) xs[i] = x[column0 + i];
  __syncthreads();
  const int first = item_atoms[item], last = item_atoms[item + 1];
  const int share = ((last - first + WARPS - 1) / WARPS + 31) / 32 * 32;  // whole lines: loads stay aligned
  const int from = first + t / 32 * share, to = from + share < last ? from + share : last;
  multiply(stored_rows{rows}, from, to, columns, values, xs, column0, y);
}

// first_rows: for each warp of each item, the row of its first nonzero. It is computed once for a batch.
extern "C" __global__ void __launch_bounds__(256) csr_i_atomics(const int* __restrict__ item_atoms, const int* __restrict__ item_columns,
    const int* __restrict__ offsets, const int* __restrict__ first_rows, const int* __restrict__ columns,
    const double* __restrict__ values, const double* __restrict__ x, double* __restrict__ y) {
  __shared__ double xs[1024];
  const int item = blockIdx.x, t = threadIdx.x, column0 = item_columns[item], width = item_columns[item + 1] - column0;
  for (int i = t; i < width; i += THREADS) xs[i] = x[column0 + i];
  __syncthreads();
  const int first = item_atoms[item], last = item_atoms[item + 1], share = (last - first + WARPS - 1) / WARPS;
  const int from = first + t / 32 * share, to = from + share < last ? from + share : last;
  if (from >= to) return;  // the whole warp together
  const int row = first_rows[item * WARPS + t / 32];
  multiply(walked_rows{offsets, row, offsets[row + 1]}, from, to, columns, values, xs, column0, y);
}
