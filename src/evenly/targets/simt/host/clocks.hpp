// Vector clocks, which tell whether two accesses are ordered or race.
//
// Each thread counts its synchronisations (`clock`). For every other thread, it knows the clock up to which that
// thread's accesses are ordered before its own. A barrier joins the knowledge of its members. A fence saves the
// knowledge that a later atomic operation of the thread publishes, and acquires the knowledge that earlier ones have
// read. The clocks are from Flanagan, Freund, "FastTrack", PLDI 2009; the fences are those of C++ and PTX, between
// relaxed atomics.
//
// Knowledge is shared and immutable. After a barrier a whole block has the same object, so most look-ups follow a
// single pointer. The threads of the same block have a row. The rows of other blocks are in a map, which is rarely
// needed, since only fences and atomics add to it.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace ev::sim {

using Row = std::vector<std::uint32_t>;  // by rank: the known clock of each thread of a block

struct Knowledge {
  std::uint32_t block = 0;
  Row own;
  std::map<std::uint32_t, std::shared_ptr<const Row>> far;  // other blocks

  bool covers(std::uint32_t of_block, std::uint32_t rank, std::uint32_t clock) const {
    if (of_block == block) return own[rank] >= clock;
    auto found = far.find(of_block);
    return found != far.end() && (*found->second)[rank] >= clock;
  }
};
using Known = std::shared_ptr<const Knowledge>;

inline void raise(Row& into, const Row& from) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = into[i] > from[i] ? into[i] : from[i];
}

inline void raise_far(Knowledge& k, std::uint32_t block, const std::shared_ptr<const Row>& row) {
  auto& held = k.far[block];
  if (!held) held = row;
  else if (held != row) {
    auto joined = std::make_shared<Row>(*held);
    raise(*joined, *row);
    held = joined;
  }
}

// Adds all knowledge of `from` to `into`.
inline void learn(Knowledge& into, const Known& from) {
  if (from->block == into.block) raise(into.own, from->own);
  else raise_far(into, from->block, std::make_shared<Row>(from->own));
  for (auto& [block, row] : from->far) {
    if (block == into.block) raise(into.own, *row);
    else raise_far(into, block, row);
  }
}

inline Known join(const Known& a, const Known& b) {
  if (!b || a == b) return a;
  if (!a) return b;
  auto k = std::make_shared<Knowledge>(*a);
  learn(*k, b);
  return k;
}

// The knowledge of a thread, including its own clock.
inline Known with_self(const Known& k, std::uint32_t rank, std::uint32_t clock) {
  auto own = std::make_shared<Knowledge>(*k);
  own->own[rank] = clock;
  return own;
}

// The two scopes of fences: the block, and the device, which includes it.
enum Scope { block_scope, device_scope, scopes };

struct Clock {
  std::uint32_t now = 1;
  Known known;
  Known released[scopes];  // saved by the last fence; none before the first
  Known pending[scopes];   // read by atomics, and acquired by the next fence
};

// The knowledge that atomics on one address have published: to all threads, and, by fences of a block, to that block.
struct Published {
  Known of_device;
  std::map<std::uint32_t, Known> of_block;
};

inline void fence(Clock& c, std::uint32_t rank, Scope scope) {
  for (int s = 0; s <= scope; ++s) c.known = join(c.known, c.pending[s]);
  for (int s = 0; s <= scope; ++s) c.pending[s] = nullptr;
  Known here = with_self(c.known, rank, c.now++);
  for (int s = 0; s <= scope; ++s) c.released[s] = here;
}

// Two fences synchronize if the scope of each includes the other's thread. The block's own fences, of either scope, are
// in `of_block`, so a fence with the block's scope acquires only that.
inline void atomic_reads(Clock& c, std::uint32_t block, const Published& at) {
  c.pending[device_scope] = join(c.pending[device_scope], at.of_device);
  auto found = at.of_block.find(block);
  if (found != at.of_block.end()) c.pending[block_scope] = join(c.pending[block_scope], found->second);
}

// A store replaces what was published before; an update adds to it (a release sequence).
inline void atomic_writes(Clock& c, std::uint32_t block, Published& at, bool goes_on) {
  if (!goes_on) at = {};
  at.of_device = join(at.of_device, c.released[device_scope]);
  if (c.released[block_scope]) {
    Known& held = at.of_block[block];
    held = join(held, c.released[block_scope]);
  }
}

}  // namespace ev::sim
