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
  explicit SeededOrder(std::uint64_t seed) : random(seed), lengths(~seed), in_order(seed == 0), runs_ahead(seed % 2 == 0), until(turns()) {}

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
    if (!in_order && !runs_ahead) return warp;  // each is taken at random, anyway
    if (warp != last) until = turns();
    last = warp;
    if (--until > 0) return warp;
    until = turns();
    return any(ready);
  }
  int turns() { return 1 + static_cast<int>(lengths.below(2 * usual_turns)); }

  Random random, lengths;
  bool in_order, runs_ahead;
  int favoured = -1, last = -1, until;
  std::uint64_t seen = 0;  // the arrivals when the first was searched for
};

// Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with
// Probabilistic Guarantees of Finding Bugs", ASPLOS 2010). Each thread has a random priority, and the highest one runs. At
// depth - 1 random turns, the thread that runs gets a priority below all others.
//
// The authors draw these turns from as many as there are. Nobody knows how many there will be, so here it is first drawn
// between which powers of two a turn lies: each of the first k turns has at least the chance 1 / (16 k).
class Priorities : public Order {
public:
  Priorities(std::uint64_t seed, int depth) : random(seed) {
    for (int i = 1; i < depth; ++i) {
      const std::uint64_t power = std::uint64_t{1} << random.below(most_bits);
      changes.push_back(power + random.below(power));
    }
    std::sort(changes.begin(), changes.end());
    salt = random.below(~std::uint64_t{0});
  }

  Thread* next(Ready& ready, Thread* last) override {
    ++turn;
    if (lowered.size() < changes.size() && turn >= changes[lowered.size()]) lowered.push_back(last ? name(*last) : nobody);
    int warp = -1;
    std::size_t lane = 0;
    std::uint64_t most = 0;
    for (int w : ready.warps())
      for (std::size_t i = 0; i < ready.lanes(w); ++i) {
        const std::uint64_t p = priority(*ready.peek(w, i));
        if (p >= most) most = p, warp = w, lane = i;
      }
    if (machine().stalled()) {  // it may wait for one that has a lower priority
      warp = ready.warps()[random.below(ready.warps().size())];
      lane = random.below(ready.lanes(warp));
    }
    return ready.take(warp, lane);
  }

private:
  static constexpr int most_bits = 16;
  static constexpr std::uint64_t nobody = ~std::uint64_t{0};

  static std::uint64_t name(const Thread& t) { return static_cast<std::uint64_t>(t.block->linear) << 32 | static_cast<std::uint32_t>(t.rank); }
  std::uint64_t priority(const Thread& t) const {
    const std::uint64_t who = name(t);
    for (std::size_t i = lowered.size(); i-- > 0;)
      if (lowered[i] == who) return i + 1;
    return mixed(salt, who) | std::uint64_t{1} << 32;
  }

  Random random;
  std::uint64_t salt, turn = 0;
  std::vector<std::uint64_t> changes, lowered;  // turns; the threads that were running then
};

// Lock step, as before Volta: of the lanes of a warp, those run that are furthest behind in the code, so that diverged
// lanes meet again as early as they can, and no lane leaves a loop behind before all have left it (Collange, "Stack-less
// SIMT reconvergence at low cost", 2011). The code has to be laid out in the order of the source.
class LockStep : public Order {
public:
  explicit LockStep(std::uint64_t seed) : random(seed) {}
  Thread* next(Ready& ready, Thread*) override {
    const int warp = ready.warps()[random.below(ready.warps().size())];
    std::size_t rearmost = 0;
    for (std::size_t i = 1; i < ready.lanes(warp); ++i) {
      const Thread &t = *ready.peek(warp, i), &best = *ready.peek(warp, rearmost);
      if (std::make_pair(t.at_block, t.rank) < std::make_pair(best.at_block, best.rank)) rearmost = i;
    }
    return ready.take(warp, rearmost);
  }

private:
  Random random;
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
