// Chooses the thread that runs next. An order gets the threads that can run, and takes one of them.
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

// An order that depends on a seed. Seed 0 takes blocks, warps and lanes in order. Other even seeds let one warp run
// ahead as far as it can, to find mistakes that only show when threads are far apart. Odd seeds switch all the time.
class SeededOrder : public Order {
public:
  explicit SeededOrder(std::uint64_t seed) : random(seed), in_order(seed == 0), runs_ahead(seed % 2 == 0), until(turns()) {}

  Thread* next(Ready& ready, Thread*) override {
    if (machine().stalled()) {  // fair: each warp and each lane has the same chance
      favoured = any(ready);
      return ready.take(favoured, random.below(ready.lanes(favoured)));
    }
    if (in_order) {
      // The first warp is still the first, unless another has arrived.
      if (seen != ready.arrivals() || ready.lanes(favoured) == 0) favoured = first(ready);
      seen = ready.arrivals();
      return ready.take(fair(ready, favoured), 0);
    }
    if (!runs_ahead || favoured < 0 || ready.lanes(favoured) == 0) favoured = any(ready);
    favoured = fair(ready, favoured);
    return ready.take(favoured, random.below(ready.lanes(favoured)));
  }

private:
  static constexpr int usual_turns = 4096;

  // The block that started first. A block that takes the slot of another does not become earlier by that.
  static int first(const Ready& ready) {
    auto place = [&](int w) { return std::make_pair(ready.peek(w, 0)->block->linear, w); };
    return *std::min_element(ready.warps().begin(), ready.warps().end(), [&](int a, int b) { return place(a) < place(b); });
  }
  int any(const Ready& ready) { return ready.warps()[random.below(ready.warps().size())]; }
  // If one warp is always ready, sometimes takes another: that warp may be waiting for the others in a loop that counts.
  // The number of turns varies, so that no loop keeps step with it.
  int fair(const Ready& ready, int warp) {
    if (warp != last) until = turns();
    last = warp;
    if (--until > 0) return warp;
    until = turns();
    return any(ready);
  }
  int turns() { return 1 + static_cast<int>(random.below(2 * usual_turns)); }

  Random random;
  bool in_order, runs_ahead;
  int favoured = -1, last = -1, until;
  std::uint64_t seen = 0;  // the arrivals when the first was searched for
};

// Gives each thread a turn, in order of warps and lanes.
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
