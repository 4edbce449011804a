// Runs of a launch along execution graphs: what reads see, where writes stand, and which graphs follow from them.
#include "graphs.hpp"

namespace ev::sim {

bool Graphs::prepare(const ev_launch& launch) {
  if (todo.empty()) return false;
  graph = std::move(todo.back());
  todo.pop_back();
  threads.assign(static_cast<std::size_t>(launch.blocks_x) * launch.blocks_y * launch.threads, {});
  for (auto& t : threads) t.causes.assign(threads.size(), 0);
  for (int i = 0; i < graph.size(); ++i) threads[graph.all[i].thread].own.push_back(i);
  done.assign(graph.size(), {});
  left = graph.size();
  fences.clear();
  for (auto& p : places) p.used = false;
  resets.clear();
  dropped = false;
  borrowed = {};
  trace.clear();
  return true;
}

bool Graphs::polls_in_vain() const {
  return std::all_of(threads.begin(), threads.end(), [&](const Progress& p) { return !p.held && (!p.polls || in_vain(p)); });
}

bool Graphs::in_vain(const Progress& p) const {
  for (std::size_t i = p.round; i < p.at; ++i) {
    const Operation& o = graph.all[p.own[i]];
    if (!o.write && done[p.own[i]].value != value_of(o.place, graph.write_at(o.place, static_cast<int>(graph.order[o.place].size())))) return false;
  }
  return true;
}

// ---- which thread ---------------------------------------------------------------------------------------------------
bool Graphs::may_go_on(const Thread& t) const {
  const Progress& p = threads[number(t)];
  if (p.local) return true;
  if (p.at == p.own.size()) return left == 0 && !p.held && (!p.polls || (chance && !in_vain(p)));
  const Operation& o = graph.all[p.own[p.at]];
  return o.write || o.from == initial || done[o.from].done;
}

Thread* Graphs::next(Ready& ready, Thread* last) {
  int warp = -1;
  std::size_t lane = 0;
  Thread* best = nullptr;
  int found = 0;
  for (int w : ready.warps())
    for (std::size_t i = 0; i < ready.lanes(w); ++i) {
      Thread* t = ready.peek(w, i);
      const bool first = !best || number(*t) < number(*best);
      if ((!chance && !first) || !may_go_on(*t)) continue;
      if (!chance || chance->below(++found) == 0) best = t, warp = w, lane = i;
    }
  if (!best) return nullptr;
  Progress& p = threads[number(*best)];
  p.local = true;
  if (std::exchange(p.polls, false)) {  // of a drawn graph
    p.states.clear();
    p.wants_newest = true;
  }
  if (best != last) trace += format("%s%u.%d", trace.empty() ? "" : " ", best->block->linear, best->rank);
  return ready.take(warp, lane);
}

void Graphs::stands_before_operation(Thread& t, std::uint64_t state) {
  Progress& p = threads[number(t)];
  p.local = false;
  if (std::exchange(t.wrote, false)) p.states.clear();
  for (auto& [seen, at] : p.states)
    if (seen == state) {
      if (p.at == p.own.size()) p.polls = true, p.round = at;
      return;
    }
  p.states.emplace_back(state, p.at);
  if (chance) return;
  if (++p.visits[t.pc] <= most_visits || p.at < p.own.size()) return;
  p.held = true;  // the others go on, since what they write may end the loop
  left_out(machine().name(t) + format(" came by {pc:%x} more than %d times", t.pc, most_visits));
}

void Graphs::met(const std::vector<Thread*>& members) {
  Causes joint = threads[number(*members[0])].causes;
  for (Thread* t : members) raise(joint, threads[number(*t)].causes);
  for (Thread* t : members) threads[number(*t)].causes = joint;
}

void Graphs::fenced(const Thread& t, std::uint32_t clock, bool device) {
  const int n = number(t);
  fences.push_back({n, static_cast<int>(threads[n].at), t.block->linear, static_cast<std::uint32_t>(t.rank), clock, t.clock.known, device});
}

void Graphs::drop() {
  dropped = true;
  machine().abandon();
}

void Graphs::cut_off(std::string why) {
  left_out(std::move(why));
  drop();
}

// ---- places ---------------------------------------------------------------------------------------------------------
int Graphs::place_of(std::uintptr_t address, std::size_t size) {
  const int which = names.emplace(std::make_pair(address, resets[address]), static_cast<int>(names.size())).first->second;
  if (which >= static_cast<int>(places.size())) places.resize(which + 1);
  Place& p = places[which];
  if (!p.used) {
    for (auto& o : places)
      if (o.used && address < o.address + o.size && o.address < address + size && o.address != address)
        cut_off(machine().name(*machine().current) + format(" uses a part of another atomic's place {pc:%x}", machine().current->pc));
    p = {address, size, 0, true};
    std::memcpy(&p.before, reinterpret_cast<const void*>(address), size);
  } else if (p.size != size)
    cut_off(machine().name(*machine().current) + format(" uses a part of another atomic's place {pc:%x}", machine().current->pc));
  graph.writes(which);
  return which;
}

// A plain write is ordered with all atomics on its place, or races with them: from then on it is another place.
void Graphs::written_plainly(Thread& t, std::uintptr_t address, std::size_t size) {
  t.wrote = true;
  for (auto& p : places)
    if (p.used && address < p.address + p.size && p.address < address + size) {
      p.used = false;
      ++resets[p.address];
    }
}

int Graphs::newest_done(int place) const {
  const auto& writes = graph.order[place];
  for (std::size_t i = writes.size(); i-- > 0;)
    if (done[writes[i]].done) return writes[i];
  return initial;
}

// ---- volatile accesses ----------------------------------------------------------------------------------------------
void Graphs::borrow(const Thread& t, std::uintptr_t address, std::size_t size, std::uint64_t value, bool writes) {
  if (size > sizeof value) cut_off(machine().name(t) + format(" makes a volatile access of %zu bytes {pc:%x}", size, t.pc));
  place_of(address, size);
  borrowed = {address, size, 0, writes};
  std::memcpy(&borrowed.held, reinterpret_cast<void*>(address), size);
  if (!writes) std::memcpy(reinterpret_cast<void*>(address), &value, size);
}

void Graphs::give_back(Thread& t) {
  const auto b = std::exchange(borrowed, {});
  void* memory = reinterpret_cast<void*>(b.address);
  std::uint64_t written = 0;
  std::memcpy(&written, memory, b.size);
  std::memcpy(memory, &b.held, b.size);
  if (!b.writes) return;
  latest = {};
  atomic_writes(t.clock, t.block->linear, latest, false);
  write(t, b.address, b.size, written, false);
}

// ---- operations -----------------------------------------------------------------------------------------------------
int Graphs::begin(const Thread& t, Operation o) {
  Progress& p = threads[o.thread];
  int which = graph.size();
  if (p.at < p.own.size()) {
    which = p.own[p.at];
    --left;
  } else {
    p.own.push_back(which);
    graph.all.push_back(o);
    done.emplace_back();
  }
  ++p.at;
  Done& d = done[which];
  d.done = true;
  d.block = t.block->linear;
  d.rank = static_cast<std::uint32_t>(t.rank);
  d.clock = t.clock.now;
  d.known = t.clock.known;
  d.causes = p.causes;
  p.causes[o.thread] = o.index + 1;
  return which;
}

// Where the graph ends, it is checked as a whole, unless it was before.
void Graphs::end(int which) {
  if (left == 0 && !graph.checked && which < graph.size()) {
    if (!consistent()) drop();
    graph.checked = true;
  }
}

std::uint64_t Graphs::read(Thread& t, std::uintptr_t address, std::size_t size, bool updates) {
  const int thread = number(t), index = static_cast<int>(threads[thread].at), place = place_of(address, size);
  const bool is_new = threads[thread].at == threads[thread].own.size();
  const int which = begin(t, {thread, index, place, false, false, initial});
  if (is_new) chance ? draw_write(which, updates) : choose_write(which);
  const Operation o = graph.all[which];
  if (!is_new && graph.position(place, o.from) < rules().least(place, thread, index, t.clock.known)) drop();
  latest = {};
  if (o.from != initial) {
    latest = done[o.from].published;
    Causes& causes = threads[thread].causes;
    raise(causes, done[o.from].causes);
    const Operation& w = graph.all[o.from];
    causes[w.thread] = std::max(causes[w.thread], w.index + 1);
  }
  if (o.from != newest_done(place)) trace += '~';
  done[which].value = value_of(place, o.from);
  end(which);
  return done[which].value;
}

// `published` holds what the read of an update has seen; the caller adds what the thread publishes.
void Graphs::write(Thread& t, std::uintptr_t address, std::size_t size, std::uint64_t value, bool exclusive) {
  const int thread = number(t), index = static_cast<int>(threads[thread].at), place = place_of(address, size);
  const bool is_new = threads[thread].at == threads[thread].own.size();
  const int seen = exclusive ? threads[thread].own[index - 1] : initial;
  const int which = begin(t, {thread, index, place, true, exclusive, initial});
  if (!exclusive || done[seen].value != value) threads[thread].states.clear();
  done[which].value = value;
  done[which].published = latest;
  if (is_new) {
    if (!chance) revisit(which);
    choose_position(which);
  } else {
    const int at = graph.position(place, which);
    if (exclusive ? at != graph.position(place, graph.all[seen].from) + 1 : at <= rules().least(place, thread, index, t.clock.known)) drop();
  }
  const std::uint64_t now = value_of(place, newest_done(place));
  std::memcpy(reinterpret_cast<void*>(address), &now, size);
  end(which);
}

}  // namespace ev::sim
