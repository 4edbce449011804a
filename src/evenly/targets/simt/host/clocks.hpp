// Who knows what of whom: vector clocks, by which two accesses are ordered or race.
//
// Each thread counts its synchronisations (`clock`). What it knows of the others is the clock up to which their accesses
// are ordered before its own. Barriers make their members know each other; a fence lays down what a later atomic
// operation of the thread publishes, and takes up what earlier ones have read (Flanagan, Freund, "FastTrack", PLDI 2009,
// for the clocks; the fences are those of C++ and PTX, between atomics that are themselves relaxed).
//
// Knowledge is shared and never changed: after a barrier a whole block holds the same piece, and most of what is asked is
// a pointer away. Threads of one block are known by a row; other blocks' rows hang beside, rare since only fences and
// atomics bring them.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace ev::sim {

using Row = std::vector<std::uint32_t>;  // by rank: the clock up to which a thread of the block is known

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

// `into` learns all of `from`.
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

// What a thread knows, itself included.
inline Known with_self(const Known& k, std::uint32_t rank, std::uint32_t clock) {
  auto own = std::make_shared<Knowledge>(*k);
  own->own[rank] = clock;
  return own;
}

// Two scopes of fences: the block's, and the device's, which covers it.
enum Scope { block_scope, device_scope, scopes };

struct Clock {
  std::uint32_t now = 1;
  Known known;
  Known released[scopes];  // laid down by the last fence; none before the first
  Known pending[scopes];   // read by atomics, waits for a fence
};

// What the atomics on one address have published: to all, and to those of a block by fences of that block.
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

// Two fences order if the scope of each takes in the other's thread: the block's own fences are in `of_block`, of either
// scope, so a fence of the block takes up no more than that.
inline void atomic_reads(Clock& c, std::uint32_t block, const Published& at) {
  c.pending[device_scope] = join(c.pending[device_scope], at.of_device);
  auto found = at.of_block.find(block);
  if (found != at.of_block.end()) c.pending[block_scope] = join(c.pending[block_scope], found->second);
}

// A store begins anew; an update goes on with what was published before (a release sequence).
inline void atomic_writes(Clock& c, std::uint32_t block, Published& at, bool goes_on) {
  if (!goes_on) at = {};
  at.of_device = join(at.of_device, c.released[device_scope]);
  if (c.released[block_scope]) {
    Known& held = at.of_block[block];
    held = join(held, c.released[block_scope]);
  }
}

}  // namespace ev::sim
