// Vector clocks, which tell whether two accesses are ordered or race.
//
// Each thread counts its synchronisations (`clock`). For every other thread, it knows the clock up to which that
// thread's accesses are ordered before its own. A barrier joins the knowledge of its members. A fence saves the
// knowledge that a later atomic operation of the thread publishes, and acquires the knowledge that earlier ones have
// read. The clocks are from Flanagan, Freund, "FastTrack", PLDI 2009; the fences are those of C++ and PTX, between
// relaxed atomics.
//
// Knowledge is shared and immutable. After a barrier a whole block has the same object, so most look-ups follow a
// single pointer. The threads of the same block have a row. The rows of other blocks are in a sorted list, which is rarely
// needed, since only fences and atomics add to it. Of two rows, the one that knows more is taken as it is. So the threads
// that pass knowledge on along a chain of atomics share most of it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace ev::sim {

using Row = std::vector<std::uint32_t>;  // by rank: the known clock of each thread of a block
using SharedRow = std::shared_ptr<const Row>;

struct Knowledge {
  std::uint32_t block = 0;
  Row own;
  std::vector<std::pair<std::uint32_t, SharedRow>> far;  // other blocks, in order

  const Row* row(std::uint32_t of_block) const {
    if (of_block == block) return &own;
    auto found = std::lower_bound(far.begin(), far.end(), of_block, [](auto& f, std::uint32_t b) { return f.first < b; });
    return found != far.end() && found->first == of_block ? found->second.get() : nullptr;
  }
  bool covers(std::uint32_t of_block, std::uint32_t rank, std::uint32_t clock) const {
    const Row* r = row(of_block);
    return r && (*r)[rank] >= clock;
  }
};
using Known = std::shared_ptr<const Knowledge>;

inline void raise(Row& into, const Row& from) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = into[i] > from[i] ? into[i] : from[i];
}
inline bool at_least(const Row& a, const Row& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] < b[i]) return false;
  return true;
}
inline SharedRow joined(const SharedRow& a, const SharedRow& b) {
  if (a == b || at_least(*a, *b)) return a;
  if (at_least(*b, *a)) return b;
  auto both = std::make_shared<Row>(*a);
  raise(*both, *b);
  return both;
}

// Adds all knowledge of `from` to `into`.
inline void learn(Knowledge& into, const Knowledge& from) {
  decltype(into.far) all;
  all.reserve(into.far.size() + from.far.size() + 1);
  auto add = [&](std::uint32_t block, const SharedRow& row) {
    if (!all.empty() && all.back().first == block) all.back().second = joined(all.back().second, row);
    else all.emplace_back(block, row);
  };
  auto held = into.far.begin();
  auto take_before = [&](std::uint32_t block) {
    for (; held != into.far.end() && held->first <= block; ++held) add(held->first, held->second);
  };
  const bool away = from.block != into.block;
  SharedRow home = away ? std::make_shared<const Row>(from.own) : nullptr;
  if (!away) raise(into.own, from.own);
  auto take_home = [&] {
    take_before(from.block);
    add(from.block, std::exchange(home, nullptr));
  };
  for (auto& [block, row] : from.far) {
    if (home && from.block < block) take_home();
    if (block == into.block) raise(into.own, *row);
    else take_before(block), add(block, row);
  }
  if (home) take_home();
  take_before(~std::uint32_t{0});
  into.far.swap(all);
}

// Whether `a` knows all that `b` knows.
inline bool includes(const Knowledge& a, const Knowledge& b) {
  const Row* home = a.row(b.block);
  if (!home || !at_least(*home, b.own)) return false;
  for (auto& [block, row] : b.far) {
    const Row* r = a.row(block);
    if (r != row.get() && (!r || !at_least(*r, *row))) return false;
  }
  return true;
}

inline Known join(const Known& a, const Known& b) {
  if (!b || a == b) return a;
  if (!a) return b;
  if (includes(*a, *b)) return a;
  if (a->block == b->block && includes(*b, *a)) return b;
  auto k = std::make_shared<Knowledge>(*a);
  learn(*k, *b);
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

inline void add(Published& to, const Published& from) {
  to.of_device = join(to.of_device, from.of_device);
  for (auto& [block, known] : from.of_block) {
    Known& held = to.of_block[block];
    held = join(held, known);
  }
}

// What an atomic with an order of its own acquires at once, and releases. Both are of one scope.
inline void acquire(Clock& c, std::uint32_t block, const Published& at, Scope scope) {
  c.known = join(c.known, at.of_device && scope == device_scope ? at.of_device : nullptr);
  auto found = at.of_block.find(block);
  if (found != at.of_block.end()) c.known = join(c.known, found->second);
}
inline void release(Clock& c, std::uint32_t block, std::uint32_t rank, Published& at, Scope scope) {
  const Known here = with_self(c.known, rank, c.now++);
  if (scope == device_scope) at.of_device = join(at.of_device, here);
  Known& held = at.of_block[block];
  held = join(held, here);
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
