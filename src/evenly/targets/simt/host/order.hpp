// Whose turn it is. An order gets what can run, and takes one thread out of it.
#pragma once
#include <algorithm>
#include "machine.hpp"

namespace ev::sim {

class Order {
public:
  virtual ~Order() = default;
  virtual Thread* next(Ready& ready, Thread* last) = 0;
};

class Random {
public:
  explicit Random(std::uint64_t seed) : state(seed * 0x9e3779b97f4a7c15ull + 1) {}
  std::uint64_t below(std::uint64_t n) {
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    return state % n;
  }

private:
  std::uint64_t state;
};

// By a seed. Seed 0 takes blocks, warps and lanes in order; another even seed lets one warp run ahead as far as it can,
// which brings out what only happens when threads are far apart; an odd one switches all the time.
class SeededOrder : public Order {
public:
  explicit SeededOrder(std::uint64_t seed) : random(seed), in_order(seed == 0), runs_ahead(seed % 2 == 0) {}

  Thread* next(Ready& ready, Thread*) override {
    if (in_order) {
      // Who was first still is, unless somebody came.
      if (seen != ready.arrivals() || ready.lanes(favoured) == 0) favoured = first(ready);
      seen = ready.arrivals();
      return ready.take(fair(ready, favoured), 0);
    }
    if (!runs_ahead || favoured < 0 || ready.lanes(favoured) == 0) favoured = any(ready);
    favoured = fair(ready, favoured);
    return ready.take(favoured, random.below(ready.lanes(favoured)));
  }

private:
  static constexpr int most_turns = 4096;

  // Of the block that started first: a block that takes the place of another is no earlier for that.
  static int first(const Ready& ready) {
    auto place = [&](int w) { return std::make_pair(ready.peek(w, 0)->block->linear, w); };
    return *std::min_element(ready.warps().begin(), ready.warps().end(), [&](int a, int b) { return place(a) < place(b); });
  }
  int any(const Ready& ready) { return ready.warps()[random.below(ready.warps().size())]; }
  // Another warp now and then, where one is always ready: it may wait for the others, and count as it does.
  int fair(const Ready& ready, int warp) {
    turns = warp == last ? turns + 1 : 0;
    last = warp;
    return turns > 0 && turns % most_turns == 0 ? any(ready) : warp;
  }

  Random random;
  bool in_order, runs_ahead;
  int favoured = -1, last = -1, turns = 0;
  std::uint64_t seen = 0;  // arrivals, when the first was looked for
};

// A turn each, warp after warp and lane after lane.
class RoundRobin : public Order {
public:
  Thread* next(Ready& ready, Thread*) override {
    int after = -1, first = ready.warps()[0];
    for (int w : ready.warps()) {
      if (w < first) first = w;
      if (w > last_warp && (after < 0 || w < after)) after = w;
    }
    last_warp = after < 0 ? first : after;
    return ready.take(last_warp, 0);
  }

private:
  int last_warp = -1;
};

}  // namespace ev::sim
