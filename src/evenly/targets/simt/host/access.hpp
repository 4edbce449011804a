// Checks every access to memory: which array it belongs to, bounds, whether the memory has been written, and races.
#pragma once
#include <dlfcn.h>
#include <numeric>
#include "graphs.hpp"

namespace ev::sim {

constexpr std::uint32_t breath = 1u << 20;  // accesses after which a thread that never waits returns to the host

inline const char* verb(Access kind) {
  const char* verbs[] = {"reads", "writes", "updates", "loads", "stores"};
  return verbs[static_cast<int>(kind)];
}
inline const char* verb_before(Access kind) {
  const char* verbs[] = {"read", "wrote", "updated", "loaded", "stored"};
  return verbs[static_cast<int>(kind)];
}

// Names an element, as "shared array open[1]", with the byte if it is not the first.
inline std::string element(const char* kind, const Region& r, std::uintptr_t a) {
  const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(a - r.base);
  const std::ptrdiff_t item = r.item;
  const std::ptrdiff_t index = offset >= 0 ? offset / item : (offset - item + 1) / item;
  std::string text = format("%s %s[%td]", kind, r.name.c_str(), index);
  if (offset != index * item) text += format(" (byte %td of it)", offset - index * item);
  return text;
}

// What is special about an atomic: a store that other threads may make, too (or null), and the scope of the block.
struct Special {
  const Stored* stored;
  bool narrow;
};

// One access, while it is checked.
struct Look {
  Machine& m;
  Thread& me;
  std::uintptr_t address;
  std::size_t size;
  Access kind;
  std::uint32_t pc;
  bool reads, writes;
  bool whole;  // a copy of a whole struct, including the gaps between its members
  const Special* special;

  [[noreturn]] void fail(const char* what, const std::string& text) const {
    m.fail(what, text + format("\n  %s %s it {pc:%x}", m.name(me).c_str(), verb(kind), pc));
  }
  [[noreturn]] void outside(const char* space, const Region& r) const {
    fail("bounds", element(space, r, address) + format(" is out of bounds: it has %zu elements", r.bytes / r.item));
  }
  [[noreturn]] void raced(const std::string& what, const Conflict& c) const {
    const bool block = c.before.block == me.block->linear;
    if (c.kind == Access::store)
      m.fail("race", "data race on " + what +
                         format("\n  %s stores into it {pc:%x}\n  %s has stored another value there {pc:%x}\n  "
                                "two atoms or tiles store different values into one place, and they have no order",
                                m.name(me).c_str(), pc, m.name(c.before.block, c.before.rank).c_str(), c.before.pc));
    m.fail("race", "data race on " + what +
                       format("\n  %s %s it {pc:%x}\n  %s %s it {pc:%x}\n  ", m.name(me).c_str(), verb(kind), pc,
                              m.name(c.before.block, c.before.rank).c_str(), verb_before(c.kind), c.before.pc) +
                       (block ? "no barrier, and no fences around an atomic, stand between the two"
                              : "no fences around an atomic stand between the two, and blocks have no barrier in common") +
                       (is_atomic(c.kind) && is_atomic(kind) ? "; one of them has the scope of its block only" : is_atomic(c.kind) || is_atomic(kind) ? "; an atomic orders nothing but itself" : ""));
  }

  void aligned(const Region& r, const char* space) const {
    // A piece of a struct is as aligned as the struct: 16 bytes of one of 24 begin at any multiple of 8.
    const std::size_t unit = r.item > size ? std::gcd(r.item, size) : size;
    if (!whole && address % unit != 0) fail("undefined", element(space, r, address) + format(" is not aligned to the %zu bytes of the access", size));
  }
  void in(Region& r, Shadow& shadow, std::size_t offset, std::uint32_t stamp, const char* space) const {
    if (address + size > r.base + r.bytes) outside(space, r);
    aligned(r, space);
    const std::size_t at = address - r.base;
    // Structs are copied in pieces of 4 to 16 bytes, with the gaps between their members, which are never written.
    const bool gaps = r.gaps && (whole || size > 4 || (size == 4 && r.item > 4));
    if (reads && !(gaps ? r.begun(at, size) : r.ready(at, size))) fail("uninitialised", element(space, r, address) + " has not been written by anyone");
    if (writes) r.fill(at, size);
    if (kind == Access::write) {
      ++m.changes;
      if (me.watched && m.graphs) m.graphs->written_plainly(me, address, size);
    }
    if (!m.options.races) return;
    const Touch touched{me.block->linear, static_cast<std::uint32_t>(me.rank), me.clock.now, pc};
    auto ordered = [&](const Touch& t) { return t.by(touched) || me.clock.known->covers(t.block, t.rank, t.clock); };
    Conflict found;
    auto look = [&](Cell& cell) {
      if (touch(cell, kind, {reads, special && special->narrow}, touched, ordered, found)) return true;
      return special && special->stored && differs(cell, *special->stored, touched, ordered, found);
    };
    if (shadow.each(offset, size, stamp, look)) raced(element(space, r, address), found);
  }

  void shared() const {
    SharedMemory& memory = me.block->slot.shared;
    if (Region* r = memory.find(address)) return in(*r, memory.shadow, memory.offset(address), me.block->stamp, "shared array");
    if (const Region* r = memory.missed(address)) outside("shared array", *r);
    fail("bounds", "an address in shared memory where no array is");
  }
  void global(GlobalArray& a, std::uint32_t stamp) const {
    if (!writes && !a.writable) {
      if (address + size > a.base + a.bytes) outside("array", a);
      if (!a.ready(address - a.base, size)) fail("uninitialised", element("array", a, address) + " has not been written by anyone");
      return aligned(a, "array");  // it is never written, so there is no race
    }
    if (!a.writable) fail("bounds", element("array", a, address) + " may not be written: kernels of this run take it as read-only");
    in(a, a.shadow, address - a.base, stamp, "array");
  }

  void nowhere() const {
    for (auto& b : m.blocks) {
      if (!b) continue;
      if (b->slot.shared.holds(address)) fail("bounds", format("shared memory of block %u, seen from block %u", b->linear, me.block->linear));
      for (auto& t : b->threads)
        if (b->on_stack(t, address)) fail("bounds", "a local variable of " + m.name(t) + ", which is that thread's alone");
    }
    Dl_info info;
    if (!writes && dladdr(reinterpret_cast<void*>(address), &info) && reinterpret_cast<std::uintptr_t>(info.dli_fbase) == m.library) return;  // constants of the code
    if (const GlobalArray* r = m.global.missed(address)) outside("array", *r);
    fail("bounds", format("address %#zx belongs to no array", static_cast<std::size_t>(address)));
  }
};

// For the counters. Arrays get addresses as from a GPU's allocator, at the beginning of a sector, whatever their
// addresses on the host are. A struct is copied in pieces to which it is certainly aligned. Accesses are not checked in
// such a run.
inline void record(Machine& m, const Thread& me, std::uintptr_t a, std::size_t size, Access kind, std::uint32_t pc, bool reads, bool writes, bool whole) {
  const bool shared = me.block->slot.shared.holds(a);
  const GlobalArray* array = shared ? nullptr : m.global.find(a);
  if (!shared && !array) return;
  const EventKind event = kind == Access::atomic && reads && writes ? EventKind::atomic : writes ? EventKind::store : EventKind::load;
  const std::size_t widest = !whole ? 16 : size % 8 == 0 ? 8 : 4;
  std::uint64_t at = shared ? a : a - array->base + (static_cast<std::uint64_t>(array - m.global.arrays.data() + 1) << 40);
  for (std::size_t part; size > 0; at += part, size -= part) {
    for (part = widest; part > size || at % part != 0;) part /= 2;
    m.record(event, pc, shared ? shared_space : global_space, part, at);
  }
}

inline void access(std::uintptr_t address, std::size_t size, Access kind, const void* pc, bool reads, bool writes, bool whole = false,
                   const Special* special = nullptr) {
  Machine& m = machine();
  Thread* me = m.current;
  if (!me || me->block->on_stack(*me, address)) return;
  if (me->watched) m.look_before(kind == Access::write, address, size, pc);
  if (++me->accesses == breath) m.breathe(pc);
  if (m.options.record) return record(m, *me, address, size, kind, m.offset(pc), reads, writes, whole);
  const Look look{m, *me, address, size, kind, m.offset(pc), reads, writes, whole, special};
  if (me->block->slot.shared.holds(address)) return look.shared();
  if (!m.global.checked) return;
  if (GlobalArray* a = m.global.find(address)) return look.global(*a, m.launch_stamp());
  look.nowhere();
}
inline void fence_of(Machine& m, int how) {
  Thread& t = *m.current;
  const std::uint32_t clock = t.clock.now;
  const bool device = (how & ev_of_block) == 0;
  fence(t.clock, static_cast<std::uint32_t>(t.rank), device ? device_scope : block_scope);
  if (m.graphs && (how & ev_orders) == ev_seq_cst) m.graphs->fenced(t, clock, device);
}
inline void reads(std::uintptr_t a, std::size_t size, const void* pc) { access(a, size, Access::read, pc, true, false); }
inline void writes(std::uintptr_t a, std::size_t size, const void* pc) { access(a, size, Access::write, pc, false, true); }

}  // namespace ev::sim
