// Barriers, shuffles and votes: which threads have to take part, and the results.
#pragma once
#include "graphs.hpp"

namespace ev::sim {

inline const char* name_of(ev_collective c) {
  const char* names[] = {"runs", "a barrier", "sync_warp", "a shuffle", "a vote"};
  return names[c];
}

inline bool same(const ev_site& a, const ev_site& b) { return a.place == b.place && (a.file == b.file || std::strcmp(a.file, b.file) == 0); }

// Orders all earlier accesses of the members before all later ones.
inline void order_members(const std::vector<Thread*>& members) {
  Clock& first = members[0]->clock;
  auto joint = std::make_shared<Knowledge>(*first.known);
  Known last = first.known, released[scopes], pending[scopes];
  for (Thread* t : members) {
    if (t->clock.known != last) learn(*joint, *(last = t->clock.known));
    for (int s = 0; s < scopes; ++s) {  // a fence of one, before the barrier, counts for atomics of all, after it
      released[s] = join(released[s], t->clock.released[s]);
      pending[s] = join(pending[s], t->clock.pending[s]);
    }
  }
  for (Thread* t : members) joint->own[t->rank] = t->clock.now++;
  for (Thread* t : members) {
    t->clock.known = joint;
    for (int s = 0; s < scopes; ++s) { t->clock.released[s] = released[s]; t->clock.pending[s] = pending[s]; }
  }
}

[[noreturn]] inline void broken(const Thread& t, const Thread& gone) {
  throw Failure{t.wait == ev_barrier ? "barrier" : "mask",
                format("%s waits at %s for thread %d, which has left the kernel\n  it waits {pc:%x}", machine().name(t).c_str(),
                       name_of(t.wait), gone.rank, t.pc)};
}

// ---- barriers -------------------------------------------------------------------------------------------------------
inline void check_whole_warps(const Block& b, int id) {
  for (int w = 0; w * 32 < b.size(); ++w) {
    int lanes = 0, size = std::min(32, b.size() - w * 32);
    for (int i = w * 32; i < w * 32 + size; ++i) lanes += b.threads[i].wait == ev_barrier && b.threads[i].barrier_id == id;
    if (lanes != 0 && lanes != size)
      throw Failure{"barrier", format("barrier %d: only %d of the %d lanes of warp %d of block %u are there\n", id, lanes, size, w, b.linear) + machine().who_waits()};
  }
}

// All threads must call barrier() at the same place. (Named barriers may be called from several places, for example
// by producers and consumers.)
inline void check_one_place(const Block& b) {
  const Thread& first = b.threads[0];
  for (auto& t : b.threads)
    if (!same(t.site, first.site))
      throw Failure{"barrier", format("the threads of block %u meet at two different barriers\n  thread %d waits {pc:%x}\n  thread %d waits {pc:%x}", b.linear,
                                      first.rank, first.pc, t.rank, t.pc)};
}

inline void try_barrier(Thread& t) {
  Block& b = *t.block;
  const int id = t.barrier_id, count = t.barrier_count;
  Block::Barrier& barrier = b.barriers[id];
  if (barrier.here == 0) barrier.count = count;
  if (barrier.count != count)
    throw Failure{"barrier", format("barrier %d of block %u: thread %d waits for %d threads, others for %d\n  it waits {pc:%x}", id, b.linear, t.rank, count, barrier.count, t.pc)};
  if (b.exited > 0 && count == b.size())
    for (auto& o : b.threads) if (o.state == State::exited) broken(t, o);
  if (++barrier.here < count) return;
  barrier.here = 0;
  check_whole_warps(b, id);
  if (id == 0) check_one_place(b);
  auto& members = machine().members;
  members.clear();
  for (auto& o : b.threads) if (o.wait == ev_barrier && o.barrier_id == id) members.push_back(&o);
  order_members(members);
  if (machine().graphs) machine().graphs->met(members);
  for (Thread* o : members) machine().wake(*o);
  machine().advanced();
}

// ---- warps ----------------------------------------------------------------------------------------------------------
// Returns the threads in the mask, or none if some have not arrived yet.
inline const std::vector<Thread*>& members_of(Thread& t) {
  Block& b = *t.block;
  auto& members = machine().members;
  members.clear();
  const int base = t.warp() * 32;
  const bool may_come = b.exited == 0 && base + 32 <= b.size();  // threads in the mask that have not arrived
  if (may_come && b.gathered[t.warp()] < __builtin_popcount(t.mask)) return members;
  for (int lane = 0; lane < 32; ++lane) {
    if (!(t.mask >> lane & 1)) continue;
    if (base + lane >= b.size())
      throw Failure{"mask", format("%s: mask %08x names lane %d, and the block has %d threads\n  {pc:%x}", machine().name(t).c_str(), t.mask, lane, b.size(), t.pc)};
    Thread& o = b.threads[base + lane];
    if (o.state == State::exited) {  // "all non-exited threads" have to call (CUDA C++ Programming Guide, 10.22)
      if (machine().options.strict) broken(t, o);
      continue;
    }
    if (o.state != State::waiting || o.wait == ev_barrier || o.mask != t.mask) {  // not here yet
      members.clear();
      return members;
    }
    members.push_back(&o);
  }
  for (Thread* o : members)
    if (o->wait != t.wait || (machine().options.strict && !same(o->site, t.site)))
      throw Failure{"mask", format("the lanes of mask %08x meet at two places\n  %s is at %s {pc:%x}\n  thread %d is at %s {pc:%x}", t.mask,
                                   machine().name(*o).c_str(), name_of(o->wait), o->pc, t.rank, name_of(t.wait), t.pc)};
  return members;
}

// Marks lanes that have read from one that takes no part, or that was marked.
inline void poison_spreads(const std::vector<Thread*>& members, unsigned here) {
  unsigned marked = 0;
  for (Thread* o : members) marked |= unsigned(o->poisoned) << o->lane();
  for (Thread* o : members)
    if ((marked | ~here) >> o->source & 1) o->poisoned = o->watched = true;
}

// Each reads from its source. A lane that is not in the mask, or has left, has no value.
inline void read_lanes(const std::vector<Thread*>& members) {
  unsigned here = members[0]->mask;
  if (members.size() != static_cast<std::size_t>(__builtin_popcount(here))) {
    here = 0;
    for (Thread* o : members) here |= 1u << o->lane();
  }
  bool undefined = false;
  for (Thread* o : members) {
    const bool there = here >> o->source & 1;
    o->result = there ? o->block->threads[o->warp() * 32 + o->source].offered : poison;
    undefined |= !there | o->poisoned;
  }
  if (undefined) poison_spreads(members, here);
}

inline void try_warp(Thread& t) {
  const auto& members = members_of(t);
  if (members.empty()) return;
  unsigned votes = 0;
  for (Thread* o : members) votes |= unsigned(o->offered & 1) << o->lane();
  if (t.wait == ev_vote)
    for (Thread* o : members) o->result = votes;
  else if (t.wait == ev_shuffle) read_lanes(members);
  if (machine().graphs) machine().graphs->met(members);
  if (t.wait == ev_sync_warp) order_members(members);  // shuffles and votes order nothing (CUDA C++ Programming Guide, 10.22)
  for (Thread* o : members) machine().wake(*o);
}

}  // namespace ev::sim
