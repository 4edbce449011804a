// The emulated GPU: blocks of threads, what each thread waits for, and which runs next.
//
// A thread runs until it must wait (barrier, shuffle, vote) or gives way (atomics, fences, polled loads). order.hpp
// chooses the next thread among those that can run. Several blocks are in flight at once, so that blocks may wait for
// each other.
//
// Behaviour that CUDA leaves undefined is a failure here, and ends the run: see collectives.hpp, access.hpp and
// hooks.cpp.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>
#include "abi.hpp"
#include "clocks.hpp"
#include "fiber.hpp"
#include "history.hpp"
#include "lockstep.hpp"
#include "memory.hpp"
#include "polling.hpp"

namespace ev::sim {

struct Failure {
  std::string kind, text;
};

template <class... A> std::string format(const char* pattern, A... a) {
  char line[600];
  std::snprintf(line, sizeof line, pattern, a...);
  return line;
}

// held: in lock step, it stands behind where another lane of its warp polls.
enum class State : std::uint8_t { ready, napping, held, waiting, exited };

struct Block;

struct Thread {
  Block* block = nullptr;
  int rank = 0;
  State state = State::ready;
  // what it waits for
  ev_collective wait = ev_none;
  ev_site site{"", 0};
  std::uint32_t pc = 0;
  unsigned mask = 0;               // of a warp collective
  int barrier_id = 0, barrier_count = 0;
  std::uint64_t offered = 0;       // the bits that it provides
  int source = 0;                  // the lane from which it reads (shuffle)
  std::uint64_t result = 0;
  // what a shuffle has read from a lane that does not take part, or that holds such a value
  bool poisoned = false;
  bool watched = false;            // it is poisoned, or graphs are explored
  std::uintptr_t stored = 0;       // where it wrote something since then
  std::size_t stored_bytes = 0;
  std::uint32_t stored_at = 0;
  // whether it polls in vain
  std::uint64_t seen_changes = 0;
  int idle = 0;
  bool wrote = false;              // by a plain access, since it last stood before an operation
  std::uintptr_t polled = 0;       // the address of its latest atomic
  std::uint32_t at_block = 0;      // in lock step: the basic block in which it is, by its place in the code
  bool within = false;             // an atomic operation
  Cycle cycle;                     // of the states in which it gave way or waited since `cycle_changes`
  std::uint64_t cycle_changes = 0;
  std::uint32_t accesses = 0;      // since it last gave way
  Clock clock;
  std::unordered_map<const void*, Published> releases;  // by its atomics with an order of their own, by address
  std::vector<Event> events;       // its trace, if it is recorded
  Context context;

  int lane() const { return rank % 32; }
  int warp() const { return rank / 32; }
};

using Publications = std::unordered_map<const void*, Published>;  // by address

// A slot for one resident block: its stacks and its shared memory.
struct Slot {
  Slot(int number, int threads) : number(number), stacks(stack_bytes * threads) {}
  int number;
  Pages stacks;
  SharedMemory shared;
  Publications published;  // of atomics on shared memory
};

struct Block {
  Block(Slot& slot, int x, int y, std::uint32_t linear, std::uint32_t stamp, int threads)
      : slot(slot), x(x), y(y), linear(linear), stamp(stamp), threads(threads), gathered((threads + 31) / 32) {
    auto nothing = std::make_shared<Knowledge>();
    nothing->block = linear;
    nothing->own.assign(threads, 0);
    for (int i = 0; i < threads; ++i) {
      this->threads[i].block = this;
      this->threads[i].rank = i;
      this->threads[i].clock.known = nothing;
    }
  }
  int size() const { return static_cast<int>(threads.size()); }
  bool on_stack(const Thread& t, std::uintptr_t a) const {
    return a - reinterpret_cast<std::uintptr_t>(slot.stacks.data()) - t.rank * stack_bytes < stack_bytes;
  }

  Slot& slot;
  int x, y;
  std::uint32_t linear, stamp;  // stamp: invalidates the shadow cells of an earlier block in this slot
  std::vector<Thread> threads;
  std::vector<int> gathered;  // by warp: how many wait at shuffles, votes and sync_warp
  int exited = 0;
  struct Barrier { int here = 0, count = 0; } barriers[16];
};

// The threads that can run, by warp.
class Ready {
public:
  void clear(int warps) { queues.assign(warps, {}); busy.clear(); at.assign(warps, -1); total = 0; ++came; }
  void push(int warp, Thread* t) {
    if (queues[warp].empty()) { at[warp] = static_cast<int>(busy.size()); busy.push_back(warp); ++came; }
    queues[warp].push_back(t);
    ++total;
  }
  Thread* take(int warp, std::size_t which) {
    auto& q = queues[warp];
    Thread* t = q[which];
    q.erase(q.begin() + static_cast<std::ptrdiff_t>(which));
    if (q.empty()) {
      at[busy.back()] = at[warp];
      busy[at[warp]] = busy.back();
      busy.pop_back();
      at[warp] = -1;
    }
    --total;
    return t;
  }
  std::size_t lanes(int warp) const { return queues[warp].size(); }
  Thread* peek(int warp, std::size_t which) const { return queues[warp][which]; }
  const std::vector<int>& warps() const { return busy; }  // the warps with threads that can run, in no particular order
  std::uint64_t arrivals() const { return came; }         // changes whenever a warp gets a thread that can run
  int size() const { return total; }

private:
  std::vector<std::vector<Thread*>> queues;  // at most 32 long
  std::vector<int> busy, at;
  int total = 0;
  std::uint64_t came = 0;
};

class Order;
class Graphs;

class Machine {
public:
  ev_options options{};
  GlobalMemory global;
  Publications published;  // of atomics on global memory, in this launch
  Thread* current = nullptr;
  ev_launch launch{};
  std::uint64_t changes = 0;  // the number of changes of memory
  std::string printed;        // since Python last read it
  std::uintptr_t library = 0;  // where it is loaded
  History history;            // of the latest run
  Graphs* graphs = nullptr;   // that are explored
  bool exploring = false;     // every interleaving, or every graph

  void start(const ev_array* arrays, std::int64_t count, const ev_options& given);
  void begin(const ev_launch& given, Order& order);
  bool proceed(std::uint64_t steps);  // whether it is done; throws Failure
  Failure deadlock() { return {"deadlock", "every thread waits, or polls what nobody changes any more\n" + who_waits()}; }
  bool finished() const;      // whether all threads have left
  void forget() { slots.clear(); slot_threads = 0; }

  std::uint32_t offset(const void* pc) const { return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(pc) - library); }
  std::uint32_t launch_stamp() const { return stamp_of_launch; }  // invalidates the shadow cells of earlier launches
  void breathe(const void* pc) {  // returns to the host, then goes on
    breathing = true;
    turns_in_vain += current->accesses / (graphs ? 8192 : 32);  // they take as long as so many turns
    if (!graphs) return give_way(pc);
    current->pc = offset(pc);
    current->accesses = 0;
    ready.push(warp_of(*current), current);
    switch_to(current->context, scheduler);
  }
  std::uint64_t progress() const { return turns << 21 | (current ? current->accesses : 0); }  // different whenever something has moved
  int warps_a_block() const { return (launch.threads + 31) / 32; }
  int warp_of(const Thread& t) const { return t.block->slot.number * warps_a_block() + t.warp(); }

  // ---- called by threads ----
  void stop(ev_collective kind, ev_site site, const void* pc) {
    current->state = State::waiting;
    current->wait = kind;
    current->site = site;
    current->pc = offset(pc);
    if (kind != ev_barrier) ++current->block->gathered[current->warp()];
    if (options.record) record(EventKind::sync, current->pc, global_space, 0, kind == ev_barrier ? full_mask : current->mask);
    if (current->watched) look_before();
    look_for_cycle();
    switch_to(current->context, scheduler);
  }
  // Lets other threads run first. A thread that polls in vain is put aside for a while, or until no other can run.
  void give_way(const void* pc) {
    current->pc = offset(pc);
    current->accesses = 0;
    settle();
    if (graphs) stand_before_operation();
    else look_for_cycle();
    if (exploring ? current->cycle.is_closed() : current->idle >= patience) { current->state = State::napping; naps.push_back(current); if (options.lockstep) hold_warp(); }
    else ready.push(warp_of(*current), current);
    switch_to(current->context, scheduler);
  }
  // In lock step, at the beginning of each basic block: lanes that are further behind run first.
  void begin_block(const void* pc) {
    if (current->within) return;
    current->at_block = offset(pc);
    ready.push(warp_of(*current), current);
    switch_to(current->context, scheduler);
  }
  void settle() { if (graphs) settle_now(); }  // a volatile access, before anything else
  // Of a thread that is watched, before it does something else. Fails if it has stored an undefined value, and notes what
  // it is about to write.
  void look_before(bool writes = false, std::uintptr_t address = 0, std::size_t size = 0, const void* pc = nullptr);
  void abandon() { switch_to(current->context, scheduler); }  // the run
  [[noreturn]] void fail(const char* kind, std::string text) {
    failure = {kind, std::move(text)};
    switch_to(current->context, scheduler);
    std::abort();
  }

  void wake(Thread& t) {
    t.state = State::ready;
    if (t.wait > ev_barrier) --t.block->gathered[t.warp()];
    t.wait = ev_none;
    ready.push(warp_of(t), &t);
  }

  // ---- words for reports ----
  std::string name(const Thread& t) const { return name(t.block->linear, t.rank); }
  std::string name(std::uint32_t block, std::uint32_t rank) const {
    if (launch.blocks_y > 1) return format("thread %u of block (%u, %u)", rank, block % launch.blocks_x, block / launch.blocks_x);
    return format("thread %u of block %u", rank, block);
  }
  std::string place(const Thread& t, std::uintptr_t address);  // "array flags[0]"; empty if it is in none
  std::string who_waits();
  Failure left_behind(std::uintptr_t address);  // what blocks should have put back when they met
  void advanced() { turns_in_vain = 0; }  // a thread has left, or threads have met
  bool compares_states() const { return exploring || rounds_in_vain >= suspicion; }
  bool stalled() const { return turns_in_vain > long_time; }

  void record(EventKind kind, std::uint32_t pc, std::uint8_t space = global_space, std::size_t size = 0, std::uint64_t address = 0) {
    current->events.push_back({pc, kind, space, static_cast<std::uint8_t>(size), 0, address});
  }
  std::vector<WarpCounters> counters;  // of blocks that have finished

  Ready ready;
  std::vector<std::unique_ptr<Block>> blocks;  // in flight, by slot
  std::vector<Thread*> members;                // of the current collective; kept to reuse its memory

private:
  static constexpr std::uint32_t full_mask = 0xffffffffu;
  static constexpr int patience = 4;        // atomics in vain before a thread is put aside
  static constexpr int suspicion = 2;       // rounds of polling in vain after which states are compared (polling.hpp)
  static constexpr int nap = 256;           // turns of others after which all may run again
  // Turns in which no thread leaves or meets others, before orders become fair.
  static constexpr std::uint64_t long_time = 1u << 20;

  std::vector<std::unique_ptr<Slot>> slots;
  int slot_threads = 0;
  std::uint64_t next_block = 0, all_blocks = 0;
  std::uint64_t stride = 1;  // from the index of a block to that of the next one to start, modulo all_blocks
  std::vector<Thread*> naps;
  std::uint64_t turns = 0, changes_at_wake = 0;
  std::uint64_t rounds_in_vain = 0, turns_in_vain = 0;
  bool news = false;  // whether a thread has come to a new state since nappers were woken
  bool breathing = false;
  bool vacant = false;  // whether a slot may have no block
  std::uint32_t stamps = 0, stamp_of_launch = 0;
  Order* order = nullptr;
  Context scheduler;
  Failure failure;

  static void entry();
  // Under suspicion, compares the state of the current thread with its earlier ones.
  void look_for_cycle() {
    if (!compares_states()) { news = true; return; }
    Thread& t = *current;
    if (t.cycle_changes != changes) t.cycle.restart();
    t.cycle_changes = changes;
    if (!t.cycle.meets(state_of(t))) news = true;
  }
  std::uint64_t state_of(const Thread& t) const { return state_below(t.block->slot.stacks.data() + (t.rank + 1) * stack_bytes); }
  void stand_before_operation();
  void hold_warp();
  void settle_now();
  void admit();
  void wake_nappers();
  std::string runs(const Thread& t, bool many);
  void returned(Thread& t);
  void left(Thread& t);
  void count(const Block& b);
};

inline Machine the_machine;
inline Machine& machine() { return the_machine; }

}  // namespace ev::sim
