// Runs every interleaving of a small launch with few preemptions (Musuvathi, Qadeer, "Iterative Context
// Bounding for Systematic Testing of Multithreaded Programs", PLDI 2007).
//
// Threads switch only where they wait or give way. No mistake is missed by that: if a program's result depends on a
// switch between two plain accesses, it has a data race, which is reported.
#pragma once
#include <map>
#include "order.hpp"

namespace ev::sim {

class Explorer : public Order {
public:
  explicit Explorer(int bound) : bound(bound) {}

  Thread* next(Ready& ready, Thread* last) override {
    auto options = sorted(ready, last);
    const bool goes_on = options.front().thread == last;
    std::size_t take = 0;
    if (options.size() > 1) {
      if (depth == path.size()) path.push_back({0, options.size(), goes_on, preemptions});
      take = path[depth].option;
      preemptions += goes_on && take > 0;
      ++depth;
    }
    Thread* chosen = options[take].thread;
    if (chosen != last) trace += format("%s%u.%d", trace.empty() ? "" : " ", chosen->block->linear, chosen->rank);
    return ready.take(options[take].warp, options[take].at);
  }

  // Prepares the next interleaving; false when there is none.
  bool advance() {
    depth = 0;
    preemptions = 0;
    trace.clear();
    while (!path.empty()) {
      Choice& c = path.back();
      const int cost = c.preemptions_before + (c.goes_on ? 1 : 0);
      if (c.option + 1 < c.options && (bound < 0 || cost <= bound)) { ++c.option; return true; }
      path.pop_back();
    }
    return false;
  }

  std::string trace;  // the thread of each turn: block.thread

private:
  struct Choice { std::size_t option, options; bool goes_on; int preemptions_before; };
  struct Option { Thread* thread; int warp; std::size_t at; };

  // The thread that ran last comes first, if it can go on. The others are in order of block and rank.
  static std::vector<Option> sorted(const Ready& ready, Thread* last) {
    std::vector<Option> all;
    for (int w : ready.warps())
      for (std::size_t i = 0; i < ready.lanes(w); ++i) all.push_back({ready.peek(w, i), w, i});
    std::sort(all.begin(), all.end(), [=](const Option& a, const Option& b) {
      if ((a.thread == last) != (b.thread == last)) return a.thread == last;
      return std::make_pair(a.thread->block->linear, a.thread->rank) < std::make_pair(b.thread->block->linear, b.thread->rank);
    });
    return all;
  }

  int bound, preemptions = 0;
  std::size_t depth = 0;
  std::vector<Choice> path;
};

// The contents of the writable arrays.
class Contents {
public:
  static std::vector<std::uint8_t> of(const GlobalMemory& memory) {
    std::vector<std::uint8_t> all;
    for (auto& a : memory.arrays)
      if (a.writable) all.insert(all.end(), reinterpret_cast<std::uint8_t*>(a.base), reinterpret_cast<std::uint8_t*>(a.base) + a.bytes);
    return all;
  }
  static void restore(GlobalMemory& memory, const std::vector<std::uint8_t>& held) {
    std::size_t at = 0;
    for (auto& a : memory.arrays) {
      if (!a.writable) continue;
      std::memcpy(reinterpret_cast<void*>(a.base), held.data() + at, a.bytes);
      if (a.checks_init) std::fill(a.written.begin(), a.written.end(), 0);
      at += a.bytes;
    }
  }
};

struct Explored {
  std::uint64_t interleavings = 0, tries = 0;  // tries: also runs that turned out to be none
  std::string cut;  // why some runs are left out; empty if none is
  // Contents and the history, with the first trace that led there.
  std::map<std::pair<std::vector<std::uint8_t>, std::string>, std::string> outcomes;
};

}  // namespace ev::sim
