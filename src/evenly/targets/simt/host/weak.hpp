// What a graph's operations did in the current run, and whether the memory model allows the graph.
//
// The model is PTX's (PTX ISA, "Memory Consistency Model"; Lustig, Sahasrabuddhe, Giroux, "A Formal Analysis of the
// NVIDIA PTX Memory Consistency Model", ASPLOS 2019), less executions in which a read sees a write that depends on it.
// Coherence and causality: a read sees no write older than one that happens before it, or that was seen by a read which
// happens before it. Atomicity: no write stands between what an update sees and what it writes. Fences are totally
// ordered. Or it is sequential consistency: one order of all operations.
#pragma once
#include "clocks.hpp"
#include "graph.hpp"

namespace ev::sim {

struct Done {  // what is known of an operation that was executed
  bool done = false;
  std::uint64_t value = 0;
  std::uint32_t block = 0, rank = 0, clock = 0;
  Known known;          // before it
  Published published;  // by a write
  Causes causes;
};

struct Fence {  // of sequential consistency, as __threadfence
  int thread, index;    // before its thread's operation `index`
  std::uint32_t block, rank, clock;
  Known known;
  bool device;
};

class Consistency {
public:
  Consistency(const Graph& graph, const std::vector<Done>& done, const std::vector<Fence>& fences) : graph(graph), done(done), fences(fences) {}

  // The position of the newest write to a place that the thread must have seen before its operation `index`.
  int least(int place, int thread, int index, const Known& known) const {
    std::vector<bool> seen(graph.size());
    for (int i = 0; i < graph.size(); ++i) {
      const Operation& o = graph.all[i];
      if (o.place != place || !done[i].done) continue;
      if (o.thread == thread ? o.index >= index : !known->covers(done[i].block, done[i].rank, done[i].clock)) continue;
      const int write = o.write ? i : o.from;
      if (write != initial) seen[write] = true;
    }
    const auto& writes = graph.order[place];
    int newest = static_cast<int>(writes.size());
    while (newest > 0 && !seen[writes[newest - 1]]) --newest;
    return newest;
  }

  // Whether the fences have an order: F before G if something after F on a place is older than something before G.
  bool fences_have_order() const {
    const std::size_t n = fences.size(), places = graph.order.size();
    if (n < 2) return true;
    constexpr int none = 1 << 30;
    std::vector<std::vector<int>> after(n, std::vector<int>(places, none)), before(n, std::vector<int>(places, -1));
    for (int i = 0; i < graph.size(); ++i) {
      if (!done[i].done) continue;
      const Operation& o = graph.all[i];
      const int rank = graph.rank(i);
      for (std::size_t f = 0; f < n; ++f) {
        const Fence& F = fences[f];
        if (o.thread == F.thread ? o.index >= F.index : done[i].known->covers(F.block, F.rank, F.clock)) after[f][o.place] = std::min(after[f][o.place], rank);
        if (o.thread == F.thread ? o.index < F.index : F.known->covers(done[i].block, done[i].rank, done[i].clock)) before[f][o.place] = std::max(before[f][o.place], rank);
      }
    }
    auto precedes = [&](std::size_t f, std::size_t g) {
      const Fence &F = fences[f], &G = fences[g];
      if (!(F.device && G.device) && F.block != G.block) return false;
      if (F.thread == G.thread ? f < g : G.known->covers(F.block, F.rank, F.clock)) return true;
      for (std::size_t p = 0; p < places; ++p)
        if (after[f][p] < before[g][p]) return true;
      return false;
    };
    return acyclic(n, precedes);
  }

  // Whether all operations have one order, of which each read sees the last write.
  bool have_one_order() const {
    std::vector<int> there;
    for (int i = 0; i < graph.size(); ++i)
      if (done[i].done) there.push_back(i);
    std::vector<int> rank(graph.size());
    for (int i : there) rank[i] = graph.rank(i);
    auto precedes = [&](std::size_t i, std::size_t k) {
      const Operation &a = graph.all[there[i]], &b = graph.all[there[k]];
      if (a.thread == b.thread) return a.index < b.index;
      return a.place == b.place && rank[there[i]] < rank[there[k]];
    };
    return acyclic(there.size(), precedes);
  }

private:
  const Graph& graph;
  const std::vector<Done>& done;
  const std::vector<Fence>& fences;

  // Takes away what nothing precedes, until nothing is left.
  template <class Precedes> static bool acyclic(std::size_t n, Precedes precedes) {
    std::vector<std::vector<std::size_t>> next(n);
    std::vector<int> incoming(n, 0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k)
        if (i != k && precedes(i, k)) { next[i].push_back(k); ++incoming[k]; }
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < n; ++i)
      if (incoming[i] == 0) free.push_back(i);
    std::size_t taken = 0;
    while (!free.empty()) {
      const std::size_t i = free.back();
      free.pop_back();
      ++taken;
      for (std::size_t k : next[i])
        if (--incoming[k] == 0) free.push_back(k);
    }
    return taken == n;
  }
};

}  // namespace ev::sim
