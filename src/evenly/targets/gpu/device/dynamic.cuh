// The dynamic engine: each free warp or group takes the next chunk of tiles, from a counter in device memory.
//
//     chunks<pos, G, T, C, Converged> chunks(taken, tiles);   // C tiles a chunk; groups of G threads own tiles
//     while (chunks.take()) {
//       chunks.each(tile);                                    // tile(team, which, live): see each
//       chunks.keep<Totals>(grid, partials);                  // if tiles contribute to totals of the whole grid
//     }
//
// A taker is a warp or, if G > 32, a group of several warps. It begins with the chunk of its own number, if there is
// one, and draws the others: where there are fewer chunks than takers, the rest of these wait for no atomic. There is
// one atomic for each chunk, and no barrier of the block.
//
// *taken is zero between launches, as cells are (meet.cuh), without a kernel that clears it. A taker that had a chunk
// stops at the first number that is none. So a launch draws one number for each such taker, and one for each chunk
// beyond the takers. The taker that draws the last one resets the counter.
//
// Totals: there is a partial result for each chunk, not for each block. So it does not matter which taker took a chunk,
// and every run gives the same bits.
#pragma once
#include "gpu.cuh"
#include "group.cuh"

namespace ev {

EV_DEVICE long long chunks_of(long long tiles, int chunk) { return (tiles + chunk - 1) / chunk; }

template <class pos, int G, int T, int C, bool Converged> struct chunks {
  using team = group<G, T, Converged>;
  static constexpr bool by_warp = team::in_warp;
  static constexpr int takers = by_warp ? T / 32 : team::per_block;  // per block
  static constexpr int groups = by_warp ? team::per_warp : 1;        // per taker
  static constexpr int lanes = by_warp ? groups * G : 32;            // lanes of a warp that are present

  EV_DEVICE chunks(long long* t, pos n) : taken(t), tiles(n), count(chunks_of(n, C)) {}

  // Takes the next chunk; false if there is none. Every thread calls it until it returns false.
  EV_DEVICE bool take() {
    if (!mine.present()) return false;
    const long long total = (long long)takers * block_count();
    if (which < 0) {
      which = (long long)takers * block_rank() + (by_warp ? warp_rank() : mine.local());
      return which < count;
    }
    which = total + draw();
    if (which < count) return true;
    const long long begun = total < count ? total : count, drawn = count - begun;
    if (leads() && which == total + drawn + begun - 1) atomic_store(taken, 0LL);
    return false;
  }

  // Calls tile(team, which, live) for the chunk's tiles. Converged: all groups of a warp make the same number of
  // iterations. A group without a tile of its own gets the last one, with `live` false.
  template <class Tile> EV_DEVICE void each(const Tile& tile) const {
    const pos begin = (pos)(which * C), end = C < tiles - begin ? begin + C : tiles;
    if constexpr (Converged)
      for (pos first = begin; first < end; first += groups) {
        const pos own = first + mine.in_warp_rank();
        tile(mine, own < end ? own : end - 1, own < end);
      }
    else
      for (pos own = begin + mine.in_warp_rank(); own < end; own += groups) tile(mine, own, true);
  }

  template <class Totals> EV_DEVICE void keep(typename Totals::Grid& grid, typename Totals::Grid* partials) const {
    using Grid = typename Totals::Grid;
    if constexpr (by_warp)  // in a group of several warps, the leader already has the total
      grid = lanes_fold<lanes>(lanes_through(lanes - 1), lane_rank(), grid,
                               [](const Grid& a, const Grid& b) { return Totals::grid_combine(a, b); });
    if (leads()) partials[which] = grid;
    grid = Totals::grid_identity();
  }

private:
  long long* taken;
  pos tiles;
  long long count, which = -1;  // the number of chunks; the current one
  int turn = 0;                // the half of `drawn` that holds the next number
  const team mine;

  EV_DEVICE bool leads() const { return by_warp ? lane_rank() == 0 : mine.rank() == 0; }

  // The next number, for all threads of the taker.
  EV_DEVICE long long draw() {
    long long number = 0;
    if constexpr (by_warp) {
      if (leads()) number = atomic_add(taken, 1LL);
      return shuffle_from(lanes_through(lanes - 1), number, 0);
    } else {
      // The two halves alternate. A thread that writes a half again has passed the sync of the number between, so all
      // reads of that half are over.
      EV_SHARED(long long, drawn, 2 * team::per_block);
      turn ^= 1;
      long long* place = drawn + turn * team::per_block + mine.local();
      if (leads()) *place = atomic_add(taken, 1LL);
      mine.sync();
      return *place;
    }
  }
};

}  // namespace ev
