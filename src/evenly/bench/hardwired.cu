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

// ---- merge-path (MergePath(256, 3)) ------------------------------------------------------------------------------------
// Merrill and Garland, "Merge-Based Parallel SpMV" (SC 2016): row ends and nonzeros, merged, are one line, and each block
// takes the same length of it. A block stages its products in shared memory; a thread adds up ITEMS consecutive ones; a
// segmented scan joins threads; the sums that cross blocks are joined by a second kernel.
constexpr int THREADS = 256, ITEMS = 3, SHARE = THREADS * ITEMS, WARPS = THREADS / 32, BATCH = 8;
constexpr unsigned ALL = 0xffffffffu;

// first_row[b] for b in 0 .. blocks: how many rows have ended at place b * SHARE of the line.
extern "C" __global__ void merge_partition(const int* __restrict__ offsets, int rows, int nonzeros, int blocks, int* __restrict__ first_row) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b > blocks) return;
  long long whole = (long long)rows + nonzeros, wanted = (long long)b * SHARE, place = wanted < whole ? wanted : whole;
  int low = place > nonzeros ? (int)(place - nonzeros) : 0, high = place < rows ? (int)place : rows;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if ((long long)offsets[middle + 1] + middle < place) low = middle + 1;
    else high = middle;
  }
  first_row[b] = low;
}

// What each block leaves to the second kernel: of the row that is open at its end, and of the row that was open at its
// start and ends in it (-1: there is none).
extern "C" __global__ void __launch_bounds__(THREADS) merge_path(const int* __restrict__ offsets, const int* __restrict__ columns,
    const real* __restrict__ values, const real* __restrict__ x, real* __restrict__ y, const int* __restrict__ first_row,
    int rows, int nonzeros, int* __restrict__ open_row, real* __restrict__ open_sum, int* __restrict__ head_row, real* __restrict__ head_sum) {
  union Slot { real sum; int of_row; };  // nonzeros from the front; behind them, for each row, the slot of its last nonzero
  __shared__ Slot slots[SHARE];
  __shared__ unsigned ends[SHARE / 4];   // a byte a slot: a row ends here
  __shared__ real warp_sum[WARPS];
  __shared__ bool warp_resets[WARPS];
  unsigned char* is_end = (unsigned char*)ends;
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, b = blockIdx.x;

  const long long whole = (long long)rows + nonzeros, from = (long long)b * SHARE, to = from + SHARE < whole ? from + SHARE : whole;
  const int row0 = first_row[b], row1 = first_row[b + 1], here = row1 - row0;
  const int atom0 = (int)(from - row0), count = (int)(to - row1) - atom0;
  for (int i = t; i < SHARE / 4; i += THREADS) ends[i] = 0;
  __syncthreads();

  // The first round's row ends are asked for before the nonzeros, and used after: their latency hides.
  int begin = 0, end = 0;
  if (t < here) { begin = offsets[row0 + t]; end = offsets[row0 + t + 1]; }
  if (count > 0) {
    real product[ITEMS];
    #pragma unroll
    for (int k = 0; k < ITEMS; ++k) {  // beyond the end the last one again: all loads are independent
      int i = t + k * THREADS, atom = atom0 + (i < count ? i : count - 1);
      product[k] = __ldcs(values + atom) * x[__ldcs(columns + atom)];
    }
    #pragma unroll
    for (int k = 0; k < ITEMS; ++k)
      if (t + k * THREADS < count) slots[t + k * THREADS].sum = product[k];
  }
  for (int i = t; i < here; i += THREADS) {
    if (i != t) { begin = offsets[row0 + i]; end = offsets[row0 + i + 1]; }
    int slot = end > begin && end > atom0 ? end - 1 - atom0 : -1;
    if (slot >= 0) is_end[slot] = 1;
    slots[count + i].of_row = slot;
  }
  __syncthreads();

  const int mine = t * ITEMS;
  real part[ITEMS], head = 0, tail = 0;
  bool ended[ITEMS];
  int head_slot = -1;
  #pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    part[k] = slots[mine + k].sum;
    ended[k] = is_end[mine + k];
    if (mine + k >= count) part[k] = 0;
  }
  #pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    tail += part[k];
    if (ended[k]) {
      if (head_slot < 0) { head = tail; head_slot = mine + k; }  // may have begun in a thread before
      else slots[mine + k].sum = tail;
      tail = 0;
    }
  }
  // Along the warp, each lane gets what those before it left of its row: an inclusive scan, cut where a row has ended.
  const bool resets = head_slot >= 0;
  const unsigned cuts = __ballot_sync(ALL, resets);
  const unsigned cuts_here = cuts & (ALL >> (31 - lane));
  const int reach = cuts_here ? lane - (31 - __clz(cuts_here)) : lane;
  real through = tail;
  #pragma unroll
  for (int away = 1; away < 32; away *= 2) {
    real earlier = __shfl_up_sync(ALL, through, away);
    if (away <= reach) through = earlier + through;
  }
  if (lane == 31) { warp_sum[warp] = through; warp_resets[warp] = cuts != 0; }
  real before = __shfl_up_sync(ALL, through, 1);
  if (lane == 0) before = 0;
  bool since = (cuts & ~(ALL << lane)) != 0;  // the row began in this warp
  __syncthreads();
  for (int w = warp - 1; w >= 0 && !since; --w) { before = warp_sum[w] + before; since = warp_resets[w]; }
  if (resets) slots[head_slot].sum = before + head;
  __syncthreads();

  for (int i = t; i < here; i += THREADS) {
    int slot = slots[count + i].of_row;
    real sum = slot >= 0 ? slots[slot].sum : (real)0;
    if (i == 0 && offsets[row0] < atom0) { head_row[b] = row0; head_sum[b] = sum; }
    else y[row0 + i] = sum;
  }
  if (t == 0 && !(here > 0 && offsets[row0] < atom0)) head_row[b] = -1;
  if (t == THREADS - 1) { open_row[b] = row1; open_sum[b] = resets ? tail : before + tail; }
}

// A thread a block: a row that ends in it is its head and what the run of blocks before left open. A thread looks back
// over BATCH blocks; longer runs are walked by the warp, 32 batches a step, in order.
__device__ bool run_back(const int* __restrict__ open_row, const real* __restrict__ open_sum, int high, int row, real& sum) {
  int key[BATCH];
  real part[BATCH];
  #pragma unroll
  for (int j = 0; j < BATCH; ++j) {
    int q = high - BATCH + j, safe = q < 0 ? 0 : q;
    key[j] = q < 0 ? -1 : open_row[safe];
    part[j] = open_sum[safe];
  }
  bool goes_on = true;
  sum = 0;
  #pragma unroll
  for (int j = 0; j < BATCH; ++j) {
    if (key[j] == row) sum += part[j];
    else goes_on = false;
  }
  return goes_on;
}
extern "C" __global__ void __launch_bounds__(THREADS) merge_finish(const int* __restrict__ open_row, const real* __restrict__ open_sum,
    const int* __restrict__ head_row, const real* __restrict__ head_sum, real* __restrict__ y, int blocks) {
  const int b = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32, row = b < blocks ? head_row[b] : -1;
  bool more = false;
  real sum = 0;
  if (row >= 0) {
    more = run_back(open_row, open_sum, b, row, sum);
    sum += head_sum[b];
    if (!more) y[row] = sum;
  }
  for (unsigned runs = __ballot_sync(ALL, more); runs; runs &= runs - 1) {
    const int owner = __ffs(runs) - 1, run = __shfl_sync(ALL, row, owner);
    int high = __shfl_sync(ALL, b, owner) - BATCH;
    real total = __shfl_sync(ALL, sum, owner);
    for (bool going = true; going; high -= 32 * BATCH) {
      real piece;
      going = __all_sync(ALL, run_back(open_row, open_sum, high - (31 - lane) * BATCH, run, piece));
      for (int away = 16; away > 0; away /= 2) piece += __shfl_down_sync(ALL, piece, away);
      total = piece + total;
    }
    if (lane == 0) y[run] = total;
  }
}
