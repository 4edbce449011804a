// Launches, schedules threads, and reports deadlocks.
#include "machine.hpp"
#include "access.hpp"
#include "collectives.hpp"
#include "graphs.hpp"

namespace ev::sim {

void Machine::start(const ev_array* arrays, std::int64_t count, const ev_options& given) {
  options = given;
  global.set(arrays, count);
  changes = 0;
}

void Machine::begin(const ev_launch& given, Order& by) {
  launch = given;
  order = &by;
  current = nullptr;
  failure = {};
  published.clear();
  history.clear();
  counters.clear();
  blocks.clear();
  naps.clear();
  turns = rounds_in_vain = turns_in_vain = 0;
  changes_at_wake = changes - 1;
  stamp_of_launch = ++stamps;
  int resident = options.resident > 0 ? options.resident : exploring ? 64 : std::clamp(8192 / launch.threads, 4, 16);
  const std::uint64_t all = static_cast<std::uint64_t>(launch.blocks_x) * launch.blocks_y;
  resident = static_cast<int>(launch.cooperative ? all : std::min<std::uint64_t>(resident, all));
  if (slot_threads < launch.threads) { slots.clear(); slot_threads = launch.threads; }
  while (static_cast<int>(slots.size()) < resident) slots.push_back(std::make_unique<Slot>(static_cast<int>(slots.size()), slot_threads));
  ready.clear(resident * warps_a_block());
  blocks.resize(resident);
  next_block = 0;
  all_blocks = all;
  stride = 1;
  if (options.any_start) {
    stride = Random(options.seed + 1).below(all);
    while (std::gcd(stride, all) != 1) ++stride;
  }
  breathing = false;
  vacant = true;
}

void Machine::admit() {
  vacant = false;
  for (std::size_t i = 0; i < blocks.size() && next_block < all_blocks; ++i) {
    if (blocks[i]) continue;
    const auto linear = static_cast<std::uint32_t>(static_cast<unsigned __int128>(next_block++) * stride % all_blocks);
    Slot& slot = *slots[i];
    slot.shared.clear();
    slot.published.clear();
    blocks[i] = std::make_unique<Block>(slot, linear % launch.blocks_x, linear / launch.blocks_x, linear, ++stamps, launch.threads);
    for (auto& t : blocks[i]->threads) {
      t.watched = graphs != nullptr;
      prepare(t.context, slot.stacks.data() + t.rank * stack_bytes, stack_bytes, &Machine::entry);
      ready.push(warp_of(t), &t);
    }
  }
}

void Machine::entry() {
  Machine& m = machine();
  m.launch.entry->call(m.launch.entry->kernel, m.launch.arguments);
  if (m.current->watched) m.look_before();
  m.current->state = State::exited;
  switch_to(m.current->context, m.scheduler);
  std::abort();
}

bool Machine::proceed(std::uint64_t steps) {
  for (;;) {
    if (vacant) admit();
    if (ready.size() == 0) wake_nappers();
    if (ready.size() == 0) {
      if (finished()) return true;
      throw Failure{"deadlock", "every thread waits\n" + who_waits()};
    }
    if (!naps.empty() && (exploring ? changes != changes_at_wake : turns % nap == 0)) wake_nappers();
    if (steps-- == 0 || std::exchange(breathing, false)) return false;
    ++turns;
    if (++turns_in_vain > options.steps && options.steps > 0)
      throw Failure{"progress", format("no progress: livelock or starvation: in %llu turns no thread has left, and none has met others\n",
                                       static_cast<unsigned long long>(options.steps)) + who_waits()};
    current = order->next(ready, current);
    if (!current) return true;
    switch_to(scheduler, current->context);
    if (!failure.kind.empty()) throw failure;
    if (graphs && graphs->was_dropped()) return true;
    const bool gone = current->state == State::exited;
    returned(*current);
    if (gone) current = nullptr;
  }
}

void Machine::look_before(bool writes, std::uintptr_t address, std::size_t size, const void* pc) {
  Thread& t = *current;
  settle();
  if (!t.poisoned) return;
  const std::size_t bytes = std::exchange(t.stored_bytes, 0);
  if (bytes >= 4 && std::memcmp(reinterpret_cast<void*>(t.stored), &poison, std::min(bytes, sizeof poison)) == 0)
    fail("mask", format("%s stores what a shuffle has read from a lane that takes no part in it\n  it stores {pc:%x}", name(t).c_str(), t.stored_at));
  if (address != 0 && !writes) t.poisoned = false, t.watched = graphs != nullptr;  // it goes on with other values
  if (writes) t.stored = address, t.stored_bytes = size, t.stored_at = offset(pc);
}

void Machine::settle_now() { graphs->settle(*current); }

bool Machine::finished() const {
  return next_block == all_blocks && std::none_of(blocks.begin(), blocks.end(), [](auto& b) { return b != nullptr; });
}

void Machine::stand_before_operation() { graphs->stands_before_operation(*current, state_of(*current)); }

// Holds the lanes of the current thread's warp that are further on in the code: it polls, and they wait for it there.
void Machine::hold_warp() {
  const int warp = warp_of(*current);
  for (std::size_t i = ready.lanes(warp); i-- > 0;) {
    Thread* t = ready.peek(warp, i);
    if (t->at_block <= current->at_block) continue;
    ready.take(warp, i);
    t->state = State::held;
    naps.push_back(t);
  }
}

void Machine::wake_nappers() {
  if (naps.empty()) return;
  rounds_in_vain = changes == changes_at_wake ? rounds_in_vain + 1 : 0;
  if (changes == changes_at_wake && ready.size() == 0 && !news)
    throw deadlock();
  changes_at_wake = changes;
  if (ready.size() == 0) news = false;
  for (Thread* t : naps) wake(*t);
  naps.clear();
}

void Machine::returned(Thread& t) {
  if (t.state == State::exited) {
    news = true;
    advanced();
    left(t);
  }
  else if (t.state == State::waiting) t.wait == ev_barrier ? try_barrier(t) : try_warp(t);
}

// Handles a thread that has exited. Fails if another waits for it at a barrier.
void Machine::left(Thread& gone) {
  Block& b = *gone.block;
  ++b.exited;
  for (auto& t : b.threads) {
    if (t.state != State::waiting) continue;
    if (t.wait == ev_barrier) {
      if (t.barrier_count == b.size()) broken(t, gone);
    } else if (t.warp() == gone.warp() && (t.mask >> gone.lane() & 1)) {
      if (options.strict) broken(t, gone);
      try_warp(t);  // it may have waited for this one
    }
  }
  if (b.exited < b.size()) return;
  if (options.record) count(b);
  blocks[b.slot.number].reset();
  vacant = true;
}

// Replays every warp of a block in lockstep, from the traces of its threads.
void Machine::count(const Block& b) {
  for (int first = 0; first < b.size(); first += 32) {
    const int lanes = std::min(32, b.size() - first);
    Trace traces[32];
    for (int i = 0; i < lanes; ++i) {
      auto& events = b.threads[first + i].events;
      traces[i] = {events.data(), events.data() + events.size()};
    }
    WarpCounters c = Replay(traces, lanes).run();
    c.block = b.linear;
    c.warp = first / 32;
    counters.push_back(c);
  }
}

static std::string waits(const Thread& t, bool many) {
  const char* verb = many ? "wait" : "waits";
  if (t.wait == ev_barrier) return format("%s at barrier %d of %d {pc:%x}\n", verb, t.barrier_id, t.barrier_count, t.pc);
  return format("%s at %s of mask %08x {pc:%x}\n", verb, name_of(t.wait), t.mask, t.pc);
}

// A thread that could go on: it polls in vain, or is about to use the address of its latest atomic.
std::string Machine::runs(const Thread& t, bool many) {
  if (t.state == State::held) return format("%s, in lock step, for lanes of the warp that are not as far {pc:%x}\n", many ? "wait" : "waits", t.pc ? t.pc : t.at_block);
  if (t.pc == 0) return many ? "have not begun\n" : "has not begun\n";
  const std::string what = t.polled ? place(t, t.polled) : "";
  const bool polls = t.state == State::napping || (graphs && graphs->polls(t));
  const std::string verb = polls ? many ? "poll" : "polls" : what.empty() ? many ? "run" : "runs" : many ? "are at" : "is at";
  return verb + (what.empty() ? "" : " " + what) + format(" {pc:%x}\n", t.pc);
}

// Puts neighbouring threads that wait for the same event on one line.
std::string Machine::place(const Thread& t, std::uintptr_t a) {
  SharedMemory& shared = t.block->slot.shared;
  if (shared.holds(a)) {
    const Region* r = shared.find(a);
    return r ? element("shared array", *r, a) : "";
  }
  const GlobalArray* r = global.find(a);
  return r ? element("array", *r, a) : "";
}

Failure Machine::left_behind(std::uintptr_t a) {
  GlobalArray* array = global.find(a);
  std::string text = "blocks that met left something behind";
  if (!array) return {"left", text};
  text += " in " + element("array", *array, a);
  array->shadow.each(a - array->base, 1, stamp_of_launch, [&](const Cell& cell) {
    const Touch* by = latest_write(cell);
    if (by) text += format("\n  %s wrote it last {pc:%x}", name(by->block, by->rank).c_str(), by->pc);
    return by != nullptr;
  });
  return {"left", text};
}

std::string Machine::who_waits() {
  auto alike = [](const Thread& a, const Thread& b) {
    return a.state == b.state && (a.state != State::waiting || (a.wait == b.wait && same(a.site, b.site) && (a.wait == ev_barrier ? a.barrier_id == b.barrier_id : a.mask == b.mask))) &&
           (a.state != State::napping || a.polled == b.polled);
  };
  std::string all;
  int lines = 0, unsaid = 0;
  for (auto& b : blocks) {
    if (!b) continue;
    const bool meets = std::any_of(b->threads.begin(), b->threads.end(), [](const Thread& t) { return t.state == State::waiting; });
    for (int from = 0, to; from < b->size(); from = to) {
      const Thread& t = b->threads[from];
      for (to = from + 1; to < b->size() && alike(t, b->threads[to]);) ++to;
      if (t.state == State::exited && !meets) continue;
      if (++lines > 12) { unsaid += to - from; continue; }
      all += to - from > 1 ? format("  threads %d to %d of block %u ", from, to - 1, b->linear) : format("  thread %d of block %u ", from, b->linear);
      const bool many = to - from > 1;
      if (t.state == State::exited) all += many ? "have left\n" : "has left\n";
      else if (t.state == State::waiting) all += waits(t, many);
      else all += runs(t, many);
    }
  }
  if (unsaid > 0) all += format("  ... and %d threads more\n", unsaid);
  if (next_block < all_blocks) all += format("  %zu blocks have not started: %zu are resident at once\n", static_cast<std::size_t>(all_blocks - next_block), blocks.size());
  return all;
}

}  // namespace ev::sim
