// Execution graphs: which atomic read sees which atomic write, and in what order the writes to each place stand.
//
// All interleavings with the same graph have the same results, so exploring runs each graph once. Reads and writes are
// in the order in which they were added. Fences and collectives are no part of a graph, since they follow from it.
#pragma once
#include <cstdint>
#include <vector>

namespace ev::sim {

constexpr int initial = -1;  // the write that is there when a launch begins

struct Operation {
  int thread = 0, index = 0;  // which one of all threads, and which one of its operations
  int place = 0;
  bool write = false;
  bool exclusive = false;     // the write of an update, whose read comes just before it
  int from = initial;         // the write that a read sees
};

// The operations that come before one by program order, by what reads see, and by collectives: for each thread, how
// many there are.
using Causes = std::vector<int>;

inline void raise(Causes& into, const Causes& from) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = into[i] > from[i] ? into[i] : from[i];
}
inline bool has(const Causes& c, const Operation& o) { return o.index < c[o.thread]; }

struct Graph {
  std::vector<Operation> all;
  std::vector<std::vector<int>> order;  // by place: its writes (the coherence order)
  bool checked = true;                  // whether the memory model allows it

  int size() const { return static_cast<int>(all.size()); }
  std::vector<int>& writes(int place) {
    if (place >= static_cast<int>(order.size())) order.resize(place + 1);
    return order[place];
  }
  // 0 for the initial value, i + 1 for the i-th write.
  int position(int place, int write) const {
    if (write == initial) return 0;
    const auto& o = order[place];
    int i = static_cast<int>(o.size()) - 1;
    while (o[i] != write) --i;
    return i + 1;
  }
  int write_at(int place, int position) const { return position == 0 ? initial : order[place][position - 1]; }
  // Where an operation stands among those on its place: a write, then the reads that see it, then the next write.
  int rank(int which) const {
    const Operation& o = all[which];
    return o.write ? 2 * position(o.place, which) : 2 * position(o.place, o.from) + 1;
  }
  // The write of another update that sees what this position holds; initial if there is none.
  int taken(int place, int position) const {
    const auto& o = order[place];
    if (position == static_cast<int>(o.size()) || !all[o[position]].exclusive) return initial;
    return o[position];
  }

  // The graph without some of its operations, in the same order.
  Graph with(const std::vector<bool>& kept, std::vector<int>& now) const {
    Graph g;
    g.checked = false;
    now.assign(all.size(), initial);
    for (int i = 0; i < size(); ++i) {
      if (!kept[i]) continue;
      now[i] = g.size();
      g.all.push_back(all[i]);
    }
    for (auto& o : g.all)
      if (o.from != initial) o.from = now[o.from];
    for (auto& o : order) {
      g.order.emplace_back();
      for (int w : o)
        if (kept[w]) g.order.back().push_back(now[w]);
    }
    return g;
  }

  // Whether an operation is the newest of its kind among those that were added before it, or that cause `write`: a read
  // that sees the last write, or the last write, which none of them sees. Of the graphs that become equal when such
  // operations are removed, only the one where all are the newest goes on, so no graph is reached twice (Kokologiannakis,
  // Marmanis, Gladstein, Vafeiadis, "Truly Stateless, Optimal Dynamic Partial Order Reduction", POPL 2022).
  bool newest(int which, const Causes& causes) const {
    auto before = [&](int i) { return i == initial || i <= which || has(causes, all[i]); };
    const Operation& o = all[which];
    if (o.write)
      for (int i = 0; i < size(); ++i)
        if (!all[i].write && all[i].from == which && before(i)) return false;
    const int write = o.write ? which : o.from;
    if (!before(write)) return false;
    const auto& writes = order[o.place];
    for (std::size_t i = position(o.place, write); i < writes.size(); ++i)
      if (before(writes[i])) return false;
    return true;
  }
};

}  // namespace ev::sim
