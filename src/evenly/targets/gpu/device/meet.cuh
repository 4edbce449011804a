// Tiles that cross blocks, joined inside the main kernel. Each block that shares a tile writes its part of it to a
// place that these blocks have in common. The last block to arrive, which finds all other parts there, combines them in
// order and leaves the tile. No block waits for work that another still has to do, so any number of blocks may be
// launched.
//
// The blocks that share a tile follow from where it begins and ends, so no search is needed. The order of combinations
// depends on the partition alone, not on which block arrives last, so every run gives the same bits. If two blocks
// share a tile, each does one atomic exchange. More blocks meet in groups of 128, then the last ones of the groups
// meet, and so on. So the work at the end of a kernel, which no other work hides, grows with the logarithm of the
// tile's length.
//
// This is only for phases without totals of the grid, which depend on which block leaves a tile, and only if tiles read
// nothing that tiles store: a block may leave a tile when another has just read it, and parts order no other memory.
#pragma once
#include "carry.cuh"

namespace ev {

// Each block has a cell. It holds the number of blocks that have arrived there, the block's part of the tile that is
// open at its end, and its part of the tile that ends in it. A part is stored in links. A link holds 4 bytes and a flag
// that they are there, and is written as a whole, so no fence is needed. Whoever reads a link clears it, so that
// between launches all links are zero, as they were before the first launch.
//
// cells: cells_of(blocks) cells of cell_links<Value>() links each.
template <class Phase> struct Meeting {
  long long* cells;
};
template <class Value> EV_DEVICE constexpr int words_of() { return ceil_div((int)sizeof(Value), 4); }
template <class Value> EV_DEVICE constexpr int cell_links() { return 1 + 2 * words_of<Value>(); }
// Every 128 blocks of a tile have a cell of the next level, until a tile of all blocks has one.
static constexpr int meeting_fan = 128;
EV_DEVICE long long cells_of(long long blocks) {
  long long total = blocks;
  while (blocks > meeting_fan) total += blocks = blocks / meeting_fan + 2;  // + 2: groups begin where their tile does
  return total;
}

// A tile that the block shares with others, and the block's part of it. Thread 0 and its warp handle the tile that
// began before the block and ends in it. Thread T - 1 and its warp handle the tile that is open at the block's end.
// AtOnce: how many links a lane loads at once. More would cost the whole kernel registers, and so occupancy.
template <class Phase, int S, class Rule, int AtOnce> struct shared_tile {
  using pos = typename Phase::pos;
  using Value = typename Phase::Value;
  using link = unsigned long long;
  static_assert(!Phase::has_grid, "totals would depend on who comes last");
  static constexpr int words = words_of<Value>(), cell = cell_links<Value>();
  static constexpr int fan = meeting_fan;  // parts that a warp takes
  static constexpr int together = words < AtOnce ? AtOnce / words : 1;  // parts
  static constexpr link there = 1ULL << 32, there_too = 1ULL << 33;
  union bits { Value value; unsigned word[words]; EV_DEVICE bits() { word[words - 1] = 0; } };  // not all used

  long long* cells;
  pos begin = 0, end = 0, tile = -1;  // -1: there is none
  Value part;
  link found[words] = {};  // what one thread was told when it brought the part

  // Loads where the tile begins and ends, long before it is needed. It does not branch, so that these loads are in
  // flight together with those that follow. For a tile beyond the last one, it loads the values of the last.
  EV_DEVICE void look(const Phase& phase, pos candidate) {
    const pos last = phase.num_tiles() - 1, looked_at = candidate < last ? candidate : last;
    begin = phase.begin(looked_at);
    end = phase.end(looked_at);
  }
  // Writes the block's part. One thread calls it as soon as it knows the part, so that the answer is in flight while
  // the block leaves tiles.
  EV_DEVICE void bring(pos shared, const Value& v) {
    tile = shared;
    part = v;
    pin(begin);  // or the compiler would move the divisions below to `look`, where they would wait for its loads
    pin(end);
    const int first = first_block(), count = last_block() - first + 1;
    if (count == 2) exchange(first);
    else bring_to(first, count, block_rank() - first);
  }
  // Joins the tile, if this block arrived last. The whole warp calls it; its lane `source` has brought a part or has
  // none.
  template <class Grid> EV_DEVICE void join(const Phase& phase, int source, Grid& grid) {
    tile = shuffle_from(full_warp, tile, source);
    if (tile < 0) return;
    const int first = first_block(), count = last_block() - first + 1;
    const bool complete = count == 2 ? lane_rank() == source && meet_one(first) : meet_many(first, count, source) && lane_rank() == 0;
    if (complete) phase.leave(tile, part, grid);
  }

  // Joins the two parts, if the other block arrived first. One thread calls it. If a part has several words, the block
  // that finds the other's first word counts as second, though for other words the order may be the other way round.
  EV_DEVICE bool meet_one(int first) {
    if (found[0] == 0) return false;
    const bool second = block_rank() != first;
    long long* place = cells + (long long)first * cell + 1;
    bits other;
    #pragma unroll
    for (int w = 0; w < words; ++w) {
      while ((found[w] & ~(second ? there_too : there)) >> 32 == 0) found[w] = (link)atomic_load(place + w);
      atomic_store(place + w, 0LL);
      other.word[w] = (unsigned)found[w];
    }
    part = second ? Phase::combine(other.value, part) : Phase::combine(part, other.value);
    return true;
  }

private:
  EV_DEVICE int first_block() const { return (int)(Rule::place(begin, tile) / S); }
  EV_DEVICE int last_block() const { return (int)(Rule::last_place(end, tile) / S); }

  // For a tile that two blocks share. One thread calls it. The block that arrives first leaves its part, and the other
  // finds it when it writes its own to the same place.
  EV_DEVICE void exchange(int first) {
    long long* place = cells + (long long)first * cell + 1;
    const link sign = block_rank() != first ? there_too : there;
    bits own;
    own.value = part;
    #pragma unroll
    for (int w = 0; w < words; ++w) found[w] = (link)atomic_exchange(place + w, (long long)(sign | own.word[w]));
  }
  // The blocks that meet number `me`, among the `count` parts of a level: they begin at number group(me).
  EV_DEVICE static int group(int me) { return me / fan * fan; }
  EV_DEVICE static int members(int count, int me) { return count - group(me) < fan ? count - group(me) : fan; }
  EV_DEVICE long long* place_of(int first, int me) const { return cells + (long long)(first + group(me)) * cell; }

  // One thread: puts its part there, and asks how many have come.
  EV_DEVICE void bring_to(int first, int count, int me) {
    put(cells + (long long)(first + me) * cell, me == count - 1, part);
    // A last group of one has no place of its own: another tile begins there.
    if (members(count, me) > 1) found[0] = (link)atomic_add(place_of(first, me), 1LL);
  }
  // Called by a whole warp, whose lane `source` has brought the block's part. Returns true if all `count` parts have
  // arrived; lane 0 then has their combination. The combination of a group is one part of the next level.
  EV_DEVICE bool meet_many(int first, int count, int source) {
    int level = 0, me = block_rank() - first, size = block_count();  // level: where its cells begin
    #pragma unroll 1
    for (;;) {
      const int present = members(count, me);
      long long* place = place_of(level + first, me);
      const Share own(place, present, group(me) + present == count);
      link parts[together][words] = {};
      // Before it is known whether all have come: the last to come finds most of them there. Where a tile has many groups,
      // their last ones hold nobody up, and what all others ask for in vain takes long.
      if (count <= fan) ask(own, 0, parts);
      if (present > 1) {
        if (shuffle_from(full_warp, (int)found[0], source) != present - 1) return false;
        if (lane_rank() == 0) atomic_store(place, 0LL);
      }
      part = take(own, parts);
      part = lanes_fold<32>(full_warp, lane_rank(), part, [](const Value& a, const Value& b) { return Phase::combine(a, b); });
      if (count <= fan) return true;
      level += size;
      size = size / fan + 2;
      count = ceil_div(count, fan);
      me /= fan;
      first /= fan;
      source = 0;
      if (lane_rank() == 0) bring_to(level + first, count, me);
    }
  }

  // Writes a block's part of the tile that ends there (`last`), or of the one that goes on.
  EV_DEVICE void put(long long* at, bool last, const Value& part) const {
    bits b;
    b.value = part;
    #pragma unroll
    for (int w = 0; w < words; ++w) atomic_store(at + 1 + last * words + w, (long long)(there | b.word[w]));
  }
  // The parts of the members at `place` that this lane combines. last: the number of the one in whose block the tile ends.
  struct Share {
    long long* place;
    int mine, last;
    EV_DEVICE Share(long long* group, int members, bool has_last) {
      const int share = ceil_div(members, 32), from = lane_rank() * share;
      place = group + from * cell;
      mine = members - from < share ? members - from : share;
      last = has_last ? members - 1 - from : -1;
    }
    EV_DEVICE long long* at(int i, int w) const { return place + i * cell + 1 + (i == last) * words + w; }
  };
  // Asks for the parts from number i on: `together` of them, or what is left, at once.
  EV_DEVICE static void ask(const Share& own, int i, link (&parts)[together][words]) {
    #pragma unroll
    for (int j = 0; j < together; ++j)
      #pragma unroll
      for (int w = 0; w < words; ++w)
        parts[j][w] = i + j < own.mine ? (link)atomic_load(own.at(i + j, w)) : there;
  }
  // Combines the lane's parts, the first of which it has asked for. Their blocks have arrived, so the parts are written, or
  // will be visible in a moment.
  EV_DEVICE static Value take(const Share& own, link (&parts)[together][words]) {
    Value total = Phase::identity();
    #pragma unroll 1
    for (int i = 0; i < own.mine; i += together) {
      if (i > 0) ask(own, i, parts);
      while (lacks(parts)) ask(own, i, parts);
      #pragma unroll
      for (int j = 0; j < together; ++j) {
        bits b;
        #pragma unroll
        for (int w = 0; w < words; ++w) {
          b.word[w] = (unsigned)parts[j][w];
          if (i + j < own.mine) atomic_store(own.at(i + j, w), 0LL);
        }
        if (i + j < own.mine) total = Phase::combine(total, b.value);
      }
    }
    return total;
  }
  EV_DEVICE static bool lacks(const link (&parts)[together][words]) {
    bool missing = false;
    #pragma unroll
    for (int j = 0; j < together; ++j)
      #pragma unroll
      for (int w = 0; w < words; ++w) missing = missing || parts[j][w] == 0;
    return missing;
  }
};

// A block's two shared tiles. If the block has several warps, each warp handles at most one of them, so that both use
// the same registers.
template <class Phase, int T, int S, class Rule, int AtOnce> struct meeting_link {
  using pos = typename Phase::pos;
  using Value = typename Phase::Value;
  static constexpr bool one_warp = T == 32;
  shared_tile<Phase, S, Rule, AtOnce> tiles[one_warp ? 2 : 1];

  EV_DEVICE meeting_link(const Meeting<Phase>& m) {
    for (auto& t : tiles) t.cells = m.cells;
  }
  // everybody: all warps call `look`, so that none of them branches.
  EV_DEVICE void located(const Phase& phase, pos first_tile, pos open_tile, bool everybody) {
    if constexpr (one_warp) {
      head().look(phase, first_tile);
      open().look(phase, open_tile);
    } else if (everybody || takes_part()) {
      head().look(phase, warp_rank() == 0 ? first_tile : open_tile);
    }
  }
  EV_DEVICE void without_atoms() const {}
  EV_DEVICE void found_head(pos tile, const Value& part) { head().bring(tile, part); }
  EV_DEVICE void found_open(const Phase& phase, pos tile, pos stop, const Value& part) {
    if (thread_rank() == T - 1 && tile < phase.num_tiles() && open().begin < stop) open().bring(tile, part);
  }
  // Called by every thread.
  template <class Grid> EV_DEVICE void join(const Phase& phase, Grid& grid) {
    if constexpr (one_warp) {
      open().join(phase, 31, grid);
      head().join(phase, 0, grid);
    } else if (takes_part()) {
      head().join(phase, warp_rank() == 0 ? 0 : 31, grid);
    }
  }

private:
  EV_DEVICE bool takes_part() const { return warp_rank() == 0 || warp_rank() == T / 32 - 1; }
  EV_DEVICE shared_tile<Phase, S, Rule, AtOnce>& head() { return tiles[0]; }
  EV_DEVICE shared_tile<Phase, S, Rule, AtOnce>& open() { return tiles[one_warp]; }
};

}  // namespace ev
