// Merge-path SpMV by hand, with the parameters of MergePath(256, 3); see hardwired.cu, behind which this is compiled.
//
// Merrill and Garland, "Merge-Based Parallel SpMV" (SC 2016): row ends and nonzeros, merged, are one line, and each block
// takes the same length of it. Lanes load products that lie 32 apart, exchange them and add up ITEMS consecutive ones; a
// segmented scan joins threads. Blocks that share a row meet: the last one to arrive adds their parts, in order.
// rows + nonzeros + SHARE < 2^31, and there are nonzeros.
constexpr int THREADS = 256, ITEMS = 3, SHARE = THREADS * ITEMS, WARPS = THREADS / 32;
constexpr unsigned ALL = 0xffffffffu;

// first_row[b] for b in 0 .. blocks: how many rows have ended at place b * SHARE of the line.
extern "C" __global__ void merge_partition(const int* __restrict__ offsets, int rows, int nonzeros, int blocks, int* __restrict__ first_row) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b > blocks) return;
  int whole = rows + nonzeros, place = b < blocks ? b * SHARE : whole;
  int low = place > nonzeros ? place - nonzeros : 0, high = place < rows ? place : rows;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (offsets[middle + 1] + middle < place) low = middle + 1;
    else high = middle;
  }
  first_row[b] = low;
}

// Where blocks meet. A block has a cell: how many have come, its part of the row that goes on behind it, and its part of
// the row that ends in it. A part is one link for every 4 bytes, with a flag that they are there. FAN blocks meet in the
// cell of the first of them, and what they have found meets in a cell of the next level. Who reads a link clears it, so
// all are zero before and after a launch.
using Link = unsigned long long;
constexpr int FAN = 128, WORDS = sizeof(real) / 4, CELL = 1 + 2 * WORDS, AT_ONCE = 2 / WORDS;
constexpr Link THERE = 1ULL << 32, THERE_TOO = 1ULL << 33;
union Part { real sum; unsigned word[WORDS]; };

__device__ __forceinline__ Link read_link(const Link* at) { return *(const volatile Link*)at; }
__device__ __forceinline__ void write_link(Link* at, Link link) { *(volatile Link*)at = link; }

// A row that the block shares with others. Thread 0 brings the block's part of the row that began before the block, the
// last thread that of the row that is open at its end. Their warps join it.
struct SharedRow {
  Link* cells;
  int row = -1, begin = 0, end = 0;  // -1: there is none
  real part = 0;
  Link found[WORDS] = {};            // what was there when the part was brought

  __device__ __forceinline__ SharedRow(Link* at) : cells(at) {}
  __device__ __forceinline__ int first() const { return (begin + row) / SHARE; }
  __device__ __forceinline__ int count() const { return (end + row) / SHARE - first() + 1; }

  __device__ __forceinline__ void bring(int shared, real sum) {
    row = shared;
    part = sum;
    const int me = blockIdx.x - first();
    if (count() > 2) return bring_to(cells, first(), count(), me);
    Part own;
    own.sum = sum;
    #pragma unroll
    for (int w = 0; w < WORDS; ++w) found[w] = atomicExch(cells + (long long)first() * CELL + 1 + w, (me == 0 ? THERE : THERE_TOO) | own.word[w]);
  }
  // The warp: the part is with lane `source`.
  __device__ __forceinline__ void join(int source, real* y) {
    row = __shfl_sync(ALL, row, source);
    if (row < 0) return;
    const int lane = threadIdx.x % 32;
    if (count() == 2 ? lane == source && meet_one() : meet_many(source) && lane == 0) y[row] = part;
  }

private:
  __device__ __forceinline__ bool meet_one() {
    if (found[0] == 0) return false;
    const Link other = blockIdx.x == first() ? THERE_TOO : THERE;
    Part theirs;
    #pragma unroll
    for (int w = 0; w < WORDS; ++w) {
      Link* at = cells + (long long)first() * CELL + 1 + w;
      while ((found[w] & other) == 0) found[w] = read_link(at);
      write_link(at, 0);
      theirs.word[w] = (unsigned)found[w];
    }
    part += theirs.sum;
    return true;
  }
  __device__ __forceinline__ void bring_to(Link* level, int first, int count, int me) {
    Part own;
    own.sum = part;
    Link* cell = level + (long long)(first + me) * CELL;
    #pragma unroll
    for (int w = 0; w < WORDS; ++w) write_link(cell + 1 + (me == count - 1) * WORDS + w, THERE | own.word[w]);
    const int from = me / FAN * FAN;
    if (count - from > 1) found[0] = atomicAdd(level + (long long)(first + from) * CELL, (Link)1);
  }
  // Whether all have come; lane 0 then has the sum.
  __device__ __forceinline__ bool meet_many(int source) {
    Link* level = cells;
    int from_block = first(), blocks = count(), me = blockIdx.x - from_block, size = gridDim.x;
    #pragma unroll 1
    for (;;) {
      const int from = me / FAN * FAN, members = blocks - from < FAN ? blocks - from : FAN;
      Link* place = level + (long long)(from_block + from) * CELL;
      if (members > 1) {
        if (__shfl_sync(ALL, (int)found[0], source) != members - 1) return false;
        if (threadIdx.x % 32 == 0) write_link(place, 0);
      }
      part = take(place, members, from + members == blocks);
      for (int away = 16; away > 0; away /= 2) part += __shfl_down_sync(ALL, part, away);
      if (blocks <= FAN) return true;
      level += (long long)size * CELL;
      size = size / FAN + 2;
      blocks = (blocks + FAN - 1) / FAN;
      me /= FAN;
      from_block /= FAN;
      source = 0;
      if (threadIdx.x % 32 == 0) bring_to(level, from_block, blocks, me);
    }
  }
  // The sum of this lane's share of the parts. ends: whether the row ends with the last of them.
  __device__ __forceinline__ static real take(Link* place, int members, bool ends) {
    const int each = (members + 31) / 32, from = threadIdx.x % 32 * each, to = from + each < members ? from + each : members;
    real sum = 0;
    #pragma unroll 1
    for (int i = from; i < to; i += AT_ONCE) {
      Link link[AT_ONCE][WORDS];
      for (bool missing = true; missing;) {
        missing = false;
        #pragma unroll
        for (int j = 0; j < AT_ONCE; ++j)
          #pragma unroll
          for (int w = 0; w < WORDS; ++w) {
            Link* at = place + (i + j) * CELL + 1 + (ends && i + j == members - 1) * WORDS + w;
            link[j][w] = i + j < to ? read_link(at) : THERE;
            missing = missing || link[j][w] == 0;
          }
      }
      #pragma unroll
      for (int j = 0; j < AT_ONCE; ++j) {
        Part theirs;
        #pragma unroll
        for (int w = 0; w < WORDS; ++w) {
          theirs.word[w] = (unsigned)link[j][w];
          if (i + j < to) write_link(place + (i + j) * CELL + 1 + (ends && i + j == members - 1) * WORDS + w, 0);
        }
        if (i + j < to) sum += theirs.sum;
      }
    }
    return sum;
  }
};

// As many blocks a multiprocessor as it can hold, if values have 4 bytes.
extern "C" __global__ void __launch_bounds__(THREADS, WORDS == 1 ? 8 : 1) merge_path(const int* __restrict__ offsets, const int* __restrict__ columns,
    const real* __restrict__ values, const real* __restrict__ x, real* __restrict__ y, const int* __restrict__ first_row,
    int rows, int nonzeros, Link* cells) {
  enum { NONE, NEAR, FAR };  // whether a row began before the block and ends in it, among the first warp's slots or behind
  __shared__ long long cleared[SHARE / 4];
  __shared__ real slots[SHARE];
  __shared__ real warp_sum[WARPS];
  __shared__ bool warp_resets[WARPS];
  __shared__ int head[1];
  __shared__ real head_sum[1];
  unsigned short* ids = (unsigned short*)cleared;  // of a slot: 1 + the row that ends there, counted from row0; 0: none does
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, b = blockIdx.x, own = t * ITEMS, strided = warp * 32 * ITEMS + lane;
  for (int i = t; i < SHARE / 4; i += THREADS) cleared[i] = 0;
  const int row0 = first_row[b], row1 = first_row[b + 1], here = row1 - row0;
  const int from = b * SHARE, to = from + SHARE < rows + nonzeros ? from + SHARE : rows + nonzeros;
  const int atom0 = from - row0, atom1 = to - row1, count = atom1 - atom0;
  __syncthreads();

  auto mark = [&](int i, bool ends, int begin, int end) {
    const int slot = end > begin && end > atom0 ? end - 1 - atom0 : -1;
    const bool earlier = ends && i == 0 && begin < atom0;
    if (i == 0) {
      head[0] = !earlier ? NONE : slot < 32 * ITEMS ? NEAR : FAR;
      head_sum[0] = 0;
    }
    if (ends && slot >= 0) ids[slot] = (unsigned short)(i + 1);
    else if (ends && !earlier) y[row0 + i] = 0;
  };
  // What is needed of rows is asked for before the nonzeros and used after them: its latency hides.
  int begin = 0, end = 0;
  if (t < here) { begin = offsets[row0 + t]; end = offsets[row0 + t + 1]; }
  #pragma unroll 1
  for (int i = t + THREADS; i < here; i += THREADS) mark(i, true, offsets[row0 + i], offsets[row0 + i + 1]);
  const int last = count > 0 || atom0 > 0 ? count - 1 : 0;  // beyond the end this one again: all loads are independent
  real product[ITEMS];
  int column[ITEMS];
  #pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    const int i = strided + 32 * k, atom = atom0 + (i < count ? i : last);
    product[k] = __ldcs(values + atom);
    column[k] = __ldcs(columns + atom);
  }
  SharedRow shared(cells);
  const bool meets = warp == 0 || warp == WARPS - 1;
  if (meets) {
    const int candidate = warp == 0 ? row0 : row1, looked_at = candidate < rows ? candidate : rows - 1;
    shared.begin = offsets[looked_at];
    shared.end = offsets[looked_at + 1];
  }
  if (t < here || t == 0) mark(t, t < here, begin, end);
  #pragma unroll
  for (int k = 0; k < ITEMS; ++k) product[k] = strided + 32 * k < count ? product[k] * x[column[k]] : 0;
  __syncthreads();

  unsigned ends = 0;
  #pragma unroll
  for (int k = 0; k < ITEMS; ++k) ends |= (unsigned)(ids[own + k] != 0) << k;
  if (__any_sync(ALL, ends != 0)) {  // else the warp's products are of one row, in any order
    #pragma unroll
    for (int k = 0; k < ITEMS; ++k) slots[strided + 32 * k] = product[k];
    __syncwarp();
    #pragma unroll
    for (int k = 0; k < ITEMS; ++k) product[k] = slots[own + k];
  }
  real tail = 0;
  #pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    tail += product[k];
    if (ends >> k & 1) { slots[own + k] = tail; tail = 0; }
  }
  // Along the warp, each lane gets what those before it left of its row: an inclusive scan, cut where a row has ended.
  const unsigned cuts = __ballot_sync(ALL, ends != 0), cuts_here = cuts & (ALL >> (31 - lane));
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
  if (t == THREADS - 1 && row1 < rows && shared.begin < atom1) shared.bring(row1, ends ? tail : before + tail);

  unsigned left = ends;
  auto next = [&]() { return own + __ffs(left) - 1; };
  auto take = [&]() {
    real sum = slots[next()];
    if (left == ends) sum = before + sum;  // it may have begun in a thread before
    left &= left - 1;
    return sum;
  };
  if (head[0] == FAR || (head[0] == NEAR && warp == 0)) {
    if (ends && ids[next()] == 1) head_sum[0] = take();
    if (head[0] == FAR) __syncthreads();
    else __syncwarp();
    if (t == 0) shared.bring(row0, head_sum[0]);
  }
  while (left) {
    const int row = row0 + ids[next()] - 1;
    y[row] = take();
  }
  if (meets) shared.join(warp == 0 ? 0 : 31, y);
}
