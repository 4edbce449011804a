// Replays in lockstep, like a GPU's warp, what lanes did one by one, and counts events.
//
// Each lane has a trace: in order, the basic blocks that it entered, its accesses to memory and its collectives, each
// with its place in the code. `replay` runs the traces of a warp together. Of the lanes that can go on, the rearmost
// run next. All that are at the same place run at once, as one instruction of the warp. frontiers.hpp defines which are
// the rearmost (Diamos, Ashbaugh, Maiyuran, Kerr, Wu, Yalamanchili, "SIMD Re-Convergence at Thread Frontiers", MICRO
// 2011).
//
// Assumptions:
//   - Functions that make events are inlined into the kernel, so that a place in the code is a place in the kernel.
//   - Each access in a trace is an instruction, except for those to shared memory that wide.hpp merges. A GPU's
//     compiler may hoist some out of loops.
//   - Loops are not unrolled. If a GPU's compiler unrolls a loop by four, the remainder takes iterations of its own.
//   - Each branch is a branch. A GPU's compiler turns short ones into predicates, which do not diverge.
//   - Lanes that leave a loop, in any way, wait for the others before they do anything else.
#pragma once
#include <cstdint>
#include "frontiers.hpp"
#include "transactions.hpp"
#include "wide.hpp"

namespace ev::sim {

enum class EventKind : std::uint8_t { block, load, store, atomic, sync };
constexpr std::uint8_t global_space = 0, shared_space = 1;

struct Event {
  std::uint32_t pc;       // offset in the module, not 0; of a block, where it begins
  EventKind kind;
  std::uint8_t space;     // of a load, store or atomic
  std::uint8_t size;      // bytes: 1, 2, 4, 8 or 16; an access of another size is several events
  std::uint8_t flags;     // the recorder's own
  std::uint64_t address;  // of a sync: the mask of the lanes that wait for each other
};

// A range of events. The first is a block.
struct Trace {
  const Event* next;
  const Event* end;
};

// All fields, in order. counters.py has the same list, with explanations. The caller sets `block` and `warp`.
#define EV_WARP_COUNTERS(X)                                                                                        \
  X(block) X(warp) X(instructions) X(syncs) X(blocks_executed) X(active_lanes) X(branches) X(divergent_branches)   \
  X(global_load_requests) X(global_load_sectors) X(global_load_bytes) X(global_store_requests)                     \
  X(global_store_sectors) X(global_store_bytes) X(shared_load_requests) X(shared_load_wavefronts)                  \
  X(shared_load_conflicts) X(shared_store_requests) X(shared_store_wavefronts) X(shared_store_conflicts)           \
  X(global_atomic_requests) X(global_atomic_sectors) X(global_atomics) X(global_atomic_collisions)                 \
  X(shared_atomic_requests) X(shared_atomics) X(shared_atomic_collisions)

struct WarpCounters {
#define EV_FIELD(name) std::uint64_t name = 0;
  EV_WARP_COUNTERS(EV_FIELD)
#undef EV_FIELD
};

class Replay {
public:
  Replay(const Trace* traces, int count) : lanes(count) {
    for (int i = 0; i < lanes; ++i) learn(traces[i]);
    order.finish();
    for (int i = 0; i < lanes; ++i) {
      trace[i] = traces[i];
      arrive(i);
    }
  }

  WarpCounters run() {
    for (std::uint32_t together = choose(); together != 0; together = choose()) {
      execute(together);
      advance(together);
    }
    close();
    return counters;
  }

private:
  static constexpr std::uint64_t gone = ~0ull;
  int lanes;
  BlockOrder order;
  Trace trace[warp_lanes];
  int rank[warp_lanes] = {};        // the rank of the block that each lane is in
  std::uint64_t place[warp_lanes];  // the place of each lane's next event: a rank, then the position in the block
  WideAccesses loads, stores;  // accesses to shared memory that are not counted yet
  WarpCounters counters;

  const Event& next(int lane) const { return *trace[lane].next; }
  bool enters_block(int lane) const { return place[lane] != gone && next(lane).kind == EventKind::block; }

  void learn(const Trace& t) {
    int from = 0;
    for (const Event* e = t.next; e != t.end; ++e) {
      if (e->kind != EventKind::block) continue;
      const int to = order.number(e->pc);
      order.step(from, to);
      from = to;
    }
  }
  void arrive(int lane) {
    if (trace[lane].next == trace[lane].end) {
      place[lane] = gone;
      return;
    }
    const Event& e = next(lane);
    const std::uint64_t at = e.kind == EventKind::block ? order.arrival(e.pc, rank[lane]) : rank[lane];
    place[lane] = at << 32 | e.pc;
  }

  // ---- who goes next ------------------------------------------------------------------------------------------------
  // The rearmost of the lanes that can go on. If all wait for each other, as in no correct program, the rearmost of
  // all.
  std::uint32_t choose() const {
    const std::uint32_t rearmost = rearmost_of(0);
    std::uint32_t passed_over = 0;
    for (std::uint32_t here = rearmost; here != 0; here = rearmost_of(passed_over)) {
      const std::uint32_t able = here & ~waiting(here);
      if (able != 0) return able;
      passed_over |= here;
    }
    return rearmost;
  }
  std::uint32_t rearmost_of(std::uint32_t without) const {
    std::uint64_t least = gone;
    for (int i = 0; i < lanes; ++i)
      if (!(without >> i & 1) && place[i] < least) least = place[i];
    std::uint32_t found = 0;
    if (least != gone)
      for (int i = 0; i < lanes; ++i) found |= std::uint32_t(place[i] == least) << i;
    return found;
  }
  // The lanes at one place that wait at a collective which another lane has not reached yet.
  std::uint32_t waiting(std::uint32_t here) const {
    if (next(__builtin_ctz(here)).kind != EventKind::sync) return 0;
    std::uint32_t elsewhere = 0, found = 0;
    for (int i = 0; i < lanes; ++i) elsewhere |= std::uint32_t(place[i] != gone && !(here >> i & 1)) << i;
    for (std::uint32_t left = here; left != 0; left &= left - 1) {
      const int i = __builtin_ctz(left);
      found |= std::uint32_t((next(i).address & elsewhere) != 0) << i;
    }
    return found;
  }

  void advance(std::uint32_t together) {
    const int first = __builtin_ctz(together);
    bool branches = false, diverges = false;
    const int entered = enters_block(first) ? order.rank(next(first).pc) : rank[first];
    for (std::uint32_t left = together; left != 0; left &= left - 1) {
      const int i = __builtin_ctz(left);
      rank[i] = entered;
      ++trace[i].next;
      arrive(i);
      branches |= enters_block(i);
      diverges |= place[i] != place[first];
    }
    counters.branches += branches;
    counters.divergent_branches += branches && diverges;
  }

  // ---- what that costs ----------------------------------------------------------------------------------------------
  void execute(std::uint32_t together) {
    const EventKind kind = next(__builtin_ctz(together)).kind;
    if (kind == EventKind::block) {
      ++counters.blocks_executed;
      counters.active_lanes += __builtin_popcount(together);
      return;
    }
    if (kind != EventKind::sync) return access(kind, together);
    close();
    ++counters.instructions;
    ++counters.syncs;
  }
  void access(EventKind kind, std::uint32_t together) {
    Accesses by_space[2];
    for (std::uint32_t left = together; left != 0; left &= left - 1) {
      const int i = __builtin_ctz(left);
      const Event& e = next(i);
      by_space[e.space].add(i, e.address, e.size);
    }
    if (by_space[global_space].count != 0) in_global(kind, by_space[global_space]);
    if (by_space[shared_space].count != 0) in_shared(kind, by_space[shared_space]);
  }

  void in_global(EventKind kind, const Accesses& accesses) {
    const Sectors sectors(accesses);
    ++counters.instructions;
    if (kind == EventKind::load) {
      ++counters.global_load_requests;
      counters.global_load_sectors += sectors.count();
      counters.global_load_bytes += sectors.bytes();
    } else if (kind == EventKind::store) {
      ++counters.global_store_requests;
      counters.global_store_sectors += sectors.count();
      counters.global_store_bytes += sectors.bytes();
    } else {
      const Rounds rounds(accesses);
      ++counters.global_atomic_requests;
      counters.global_atomic_sectors += rounds.sectors;
      counters.global_atomics += accesses.count;
      counters.global_atomic_collisions += rounds.collisions;
    }
  }

  auto loaded() {
    return [this](const Accesses& accesses) {
      const Wavefronts wavefronts(accesses);
      ++counters.instructions;
      ++counters.shared_load_requests;
      counters.shared_load_wavefronts += wavefronts.count;
      counters.shared_load_conflicts += wavefronts.count - wavefronts.ideal;
    };
  }
  auto stored() {
    return [this](const Accesses& accesses) {
      const Wavefronts wavefronts(accesses);
      ++counters.instructions;
      ++counters.shared_store_requests;
      counters.shared_store_wavefronts += wavefronts.count;
      counters.shared_store_conflicts += wavefronts.count - wavefronts.ideal;
    };
  }

  void in_shared(EventKind kind, const Accesses& accesses) {
    if (kind != EventKind::load) loads.close(loaded());
    if (kind != EventKind::store) stores.close(stored());
    if (kind == EventKind::load) return loads.add(accesses, loaded());
    if (kind == EventKind::store) return stores.add(accesses, stored());
    ++counters.instructions;
    ++counters.shared_atomic_requests;
    counters.shared_atomics += accesses.count;
    counters.shared_atomic_collisions += Rounds(accesses).collisions;
  }
  void close() {
    loads.close(loaded());
    stores.close(stored());
  }
};

// Counts the events of a warp of at most 32 lanes. A lane with an empty trace never ran.
inline WarpCounters replay(const Trace* traces, int lanes) { return Replay(traces, lanes).run(); }

}  // namespace ev::sim
