// Tiles that cross blocks, joined inside the kernel: each block leaves its part of the tile that it cannot finish, and
// the block in which the tile ends collects the parts, in order (Merrill, Garland, "Single-pass Parallel Prefix Scan with
// Decoupled Look-back", 2016, where the idea of waiting for the blocks before comes from).
//
// Which blocks those are follows from where the tile begins, so nobody searches, and the order of every combination from
// the partition alone: equal bits on every run. A block waits for blocks before it only, which have been started before
// it: every GPU starts blocks in order of their index.
//
// A run of many blocks would keep the last one busy: every 32nd block of a run collects the 31 before it, so that what
// is left for the end is a 32nd.
#pragma once
#include "carry.cuh"

namespace ev {

// A part travels in links: each carries 4 bytes of it and the epoch of the launch, and is written whole, so that nothing
// has to be fenced, and nothing cleared between launches. Two parts a block, its own and its group's.
//
// *blocks_begun: of all launches so far; zero before the first one, as the links are. Both belong to launches of one size:
// then what all blocks have added says which launch this is, although blocks of this one may have added, too. Every
// thread reads it when its block starts, one adds to it at the end, and a barrier of the block stands between.
template <class Phase> struct Chain {
  long long begun;  // as it was read; what follows from it is worked out by those few who need it, late
  long long* links;

  EV_DEVICE int epoch() const { return (int)(begun / (block_count() * block_y_count())) + 1; }
};
template <class Value> EV_DEVICE constexpr int words_of() { return ceil_div((int)sizeof(Value), 4); }
EV_DEVICE long long read_begun(const long long* blocks_begun) { return atomic_load(blocks_begun); }
EV_DEVICE void count_block(long long* blocks_begun) {
  if (thread_rank() == block_threads() - 1) atomic_add(blocks_begun, 1LL);
}

template <class Phase, int S, class Rule> struct chain_link {
  using pos = typename Phase::pos;
  using Value = typename Phase::Value;
  static constexpr int words = words_of<Value>();  // links a part
  union bits { Value value; unsigned word[words]; EV_DEVICE bits() {} };

  const Chain<Phase>& chain;
  pos head_tile = -1;  // of thread 0: the tile that began before this block and ends in it, with the block's part
  Value head;
  pos begin = 0;  // where the block's first tile begins, of warp 0, or its open one, of the last warp

  EV_DEVICE chain_link(const Chain<Phase>& c) : chain(c) {}

  // Asked for here, long before it is needed.
  template <int T> EV_DEVICE void located(const Phase& phase, pos first_tile, pos open_tile) {
    const pos tile = warp_rank() == 0 ? first_tile : open_tile;
    if ((warp_rank() == 0 || warp_rank() == T / 32 - 1) && tile < phase.num_tiles()) begin = phase.begin(tile);
  }

  EV_DEVICE void found_head(pos tile, const Value& part) {
    head_tile = tile;
    head = part;
  }
  // Thread T - 1 has the part of the tile that is open at `stop`, the block's end.
  template <int T> EV_DEVICE void found_open(const Phase& phase, pos open_tile, pos stop, const Value& part) const {
    if (warp_rank() != T / 32 - 1 || open_tile >= phase.num_tiles()) return;
    const pos from = T > 32 ? begin : phase.begin(open_tile);
    if (from < stop) leave_open(from, open_tile, part);
  }
  // Every thread.
  template <int T, class Grid> EV_DEVICE void join(const Phase& phase, Grid& grid) const {
    if (warp_rank() == 0) {
      const pos tile = shuffle_from(full_warp, head_tile, 0);
      if (tile >= 0) {
        const Value earlier = before(tile);
        if (thread_rank() == 0) phase.leave(tile, Phase::combine(earlier, head), grid);
      }
    }
  }

private:
  // A whole warp: the part of tile `open_tile`, which goes on in the next block; valid in lane 31.
  EV_DEVICE void leave_open(pos from, pos open_tile, const Value& part) const {
    const int lane = lane_rank(), block = block_rank();
    if (lane == 31) publish(2 * block, part);
    if ((block - first_block(from, open_tile)) % 32 != 31) return;
    Value v = part;
    if (lane < 31) v = await(2 * (block - 31 + lane));
    v = fold(v);
    if (lane == 0) publish(2 * block + 1, v);
  }

  // A whole warp: what the blocks before this one have of `tile`, which ends here; valid in lane 0.
  EV_DEVICE Value before(pos tile) const {
    const int lane = lane_rank(), first = first_block(begin, tile), run = block_rank() - first;
    const int groups = run / 32, rest = run % 32, share = ceil_div(groups, 32);
    Value total = Phase::identity();
    #pragma unroll 1
    for (int g = lane * share; g < (lane + 1) * share && g < groups; ++g)
      total = Phase::combine(total, await(2 * (first + 32 * g + 31) + 1));
    if (groups > 0) total = fold(total);
    Value part = Phase::identity();
    if (lane < rest) part = await(2 * (first + 32 * groups + lane));
    return Phase::combine(total, fold(part));
  }

  static EV_DEVICE int first_block(pos begin, pos tile) { return (int)(Rule::place(begin, tile) / S); }
  static EV_DEVICE Value fold(const Value& v) {
    return lanes_fold<32>(full_warp, lane_rank(), v, [](const Value& a, const Value& b) { return Phase::combine(a, b); });
  }
  EV_DEVICE void publish(int at, const Value& v) const {
    bits b;
    b.word[words - 1] = 0;  // of a value that does not fill its last word
    b.value = v;
    const unsigned long long epoch = (unsigned long long)(unsigned)chain.epoch() << 32;
    #pragma unroll
    for (int w = 0; w < words; ++w) atomic_store(chain.links + at * words + w, (long long)(epoch | b.word[w]));
  }
  EV_DEVICE Value await(int at) const {
    bits b;
    const int epoch = chain.epoch();
    #pragma unroll
    for (int w = 0; w < words; ++w) {
      unsigned long long link;
      do link = (unsigned long long)atomic_load(chain.links + at * words + w);
      while ((int)(link >> 32) != epoch);
      b.word[w] = (unsigned)link;
    }
    return b.value;
  }
};

}  // namespace ev
