// What a new operation of an execution graph may do: which write a read sees, where a write stands, and which reads may
// see it instead. One choice is taken; graphs are kept for the others.
#include "graphs.hpp"

namespace ev::sim {

void Graphs::choose_write(int which) {
  const Operation o = graph.all[which];
  const int newest = static_cast<int>(graph.order[o.place].size());
  for (int i = rules().least(o.place, o.thread, o.index, done[which].known); i < newest; ++i) {
    graph.all[which].from = graph.write_at(o.place, i);
    if (consistent()) todo.push_back(graph);
  }
  graph.all[which].from = graph.write_at(o.place, newest);
}

// Half of the reads see the newest write. An update sees none that another update has seen.
void Graphs::draw_write(int which, bool updates) {
  const Operation o = graph.all[which];
  const int newest = static_cast<int>(graph.order[o.place].size());
  const int least = rules().least(o.place, o.thread, o.index, done[which].known);
  graph.all[which].from = graph.write_at(o.place, newest);
  if (graph.size() > most_drawn) cut_off(format("memory='relaxed' takes %d atomic operations at most", most_drawn));
  if (std::exchange(threads[o.thread].wants_newest, false) || chance->below(2) == 0) return;
  const int drawn = least + static_cast<int>(chance->below(newest - least + 1));
  if (updates && graph.taken(o.place, drawn) != initial) return;
  graph.all[which].from = graph.write_at(o.place, drawn);
  if (!consistent()) graph.all[which].from = graph.write_at(o.place, newest);
}

void Graphs::choose_position(int which) {
  const Operation o = graph.all[which];
  auto& writes = graph.writes(o.place);
  if (o.exclusive) {
    const int seen = graph.position(o.place, graph.all[threads[o.thread].own[o.index - 1]].from);
    if (graph.taken(o.place, seen) != initial) return drop();  // two updates cannot see the same write
    writes.insert(writes.begin() + seen, which);
    return;
  }
  const int least = rules().least(o.place, o.thread, o.index, done[which].known);
  if (chance) {
    writes.insert(writes.begin() + drawn_position(which, least), which);
    if (!consistent()) {
      writes.erase(std::find(writes.begin(), writes.end(), which));
      writes.push_back(which);
    }
    return;
  }
  for (int i = least; i < static_cast<int>(writes.size()); ++i) {
    if (graph.taken(o.place, i) != initial) continue;
    writes.insert(writes.begin() + i, which);
    if (consistent()) todo.push_back(graph);
    writes.erase(writes.begin() + i);
  }
  writes.push_back(which);
}

// Half of the writes come last.
int Graphs::drawn_position(int which, int least) {
  const int place = graph.all[which].place, last = static_cast<int>(graph.order[place].size());
  if (chance->below(2) == 0) return last;
  const int drawn = least + static_cast<int>(chance->below(last - least + 1));
  return graph.taken(place, drawn) == initial ? drawn : last;
}

// Keeps a graph for each read that may see the new write instead, without what was added after that read and does not
// cause the write.
void Graphs::revisit(int write) {
  const Operation a = graph.all[write];
  const Causes causes = done[write].causes;
  for (int r = 0; r < write; ++r) {
    const Operation& o = graph.all[r];
    if (o.write || o.place != a.place || has(causes, o)) continue;
    std::vector<bool> kept(graph.size());
    bool all_newest = graph.newest(r, causes);
    for (int i = 0; i < write && all_newest; ++i) {
      kept[i] = i <= r || has(causes, graph.all[i]);
      if (!kept[i]) all_newest = graph.newest(i, causes);
    }
    if (!all_newest) continue;
    kept[write] = true;
    int least = 0;
    std::vector<int> now;
    Graph g = graph.with(kept, now);
    g.all[now[r]].from = now[write];
    for (int i = 0; i < write; ++i) {  // what the write's thread must have seen
      const Operation& p = graph.all[i];
      if (i == r || !kept[i] || p.place != a.place) continue;
      if (p.thread == a.thread || done[write].known->covers(done[i].block, done[i].rank, done[i].clock))
        least = std::max(least, g.position(a.place, p.write ? now[i] : p.from == initial ? initial : now[p.from]));
    }
    insert(g, now[write], least);
  }
}

// Keeps the graph with the write in each position that it may have.
void Graphs::insert(Graph& g, int write, int least) {
  const Operation& a = g.all[write];
  auto& writes = g.writes(a.place);
  int last = static_cast<int>(writes.size());
  if (a.exclusive) {
    int seen = write;
    while (g.all[seen].thread != a.thread || g.all[seen].index != a.index - 1) --seen;
    least = last = g.position(a.place, g.all[seen].from);
  }
  for (int i = least; i <= last; ++i) {
    if (g.taken(a.place, i) != initial) continue;
    writes.insert(writes.begin() + i, write);
    todo.push_back(g);
    writes.erase(writes.begin() + i);
  }
}

}  // namespace ev::sim
