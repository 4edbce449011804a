// The functions of the runtime that the primitives of gpu_host.hpp call.
#include "access.hpp"
#include "collectives.hpp"

using namespace ev::sim;

#define PC __builtin_return_address(0)
static Thread& here() { return *machine().current; }

extern "C" {

int ev_sim_thread_rank() { return here().rank; }
int ev_sim_block_threads() { return here().block->size(); }
int ev_sim_block_x() { return here().block->x; }
int ev_sim_block_y() { return here().block->y; }
int ev_sim_blocks_x() { return machine().launch.blocks_x; }
int ev_sim_blocks_y() { return machine().launch.blocks_y; }

void ev_sim_barrier(int id, int count, ev_site site) {
  Thread& t = here();
  if (id == 0 && count == 0) count = t.block->size();
  else if (count % 32 != 0 || count <= 0 || count > t.block->size() || id < 1 || id > 15)
    machine().fail("barrier", format("barrier %d of %d threads in a block of %d: ids are 1 to 15, counts whole warps of the block\n  %s {pc:%x}", id, count,
                                     t.block->size(), machine().name(t).c_str(), machine().offset(PC)));
  t.barrier_id = id;
  t.barrier_count = count;
  machine().stop(ev_barrier, site, PC);
}

uint64_t ev_sim_warp(ev_collective kind, unsigned mask, uint64_t offered, int source, ev_site site) {
  Thread& t = here();
  if (!(mask >> t.lane() & 1))
    machine().fail("mask", format("%s calls %s with mask %08x, which does not name its own lane %d\n  {pc:%x}", machine().name(t).c_str(), name_of(kind), mask,
                                  t.lane(), machine().offset(PC)));
  t.mask = mask;
  t.offered = offered;
  t.source = source;
  machine().stop(kind, site, PC);
  return t.result;
}

void ev_sim_fence(int how) {
  Machine& m = machine();
  m.settle();
  if (!m.exploring) m.give_way(PC);  // it is no choice: what it orders is found by happens-before
  fence_of(m, how);
}

void* ev_sim_dynamic_shared(size_t item, const char* name) {
  static const char key = 0;
  Machine& m = machine();
  if (m.launch.shared == 0) m.fail("bounds", format("dynamic shared array %s: the launch gives it no memory (shared=bytes)\n  {pc:%x}", name, m.offset(PC)));
  void* p = here().block->slot.shared.get(&key, m.launch.shared, item, true, name);
  if (!p) m.fail("bounds", format("dynamic shared array %s of %u bytes: there are %zu\n  {pc:%x}", name, m.launch.shared, SharedMemory::most, m.offset(PC)));
  return p;
}

void* ev_sim_shared(const void* key, size_t bytes, size_t item, int scalar, const char* name) {
  Thread& t = here();
  void* p = t.block->slot.shared.get(key, bytes, item, scalar != 0, name);
  if (!p) machine().fail("bounds", format("shared array %s of %zu bytes: with what the block has it makes %zu, and there are %zu\n  {pc:%x}", name, bytes,
                                          bytes + t.block->slot.shared.bytes, SharedMemory::most, machine().offset(PC)));
  return p;
}

int64_t ev_sim_extent(const void* p, size_t size) {
  Machine& m = machine();
  if (!m.global.checked) return -1;
  const auto a = reinterpret_cast<std::uintptr_t>(p);
  if (const GlobalArray* r = m.global.find(a)) return static_cast<int64_t>((r->base + r->bytes - a) / size);
  return p ? -1 : 0;
}

void ev_sim_outside(const void* data, int64_t index, int64_t count, int write) {
  Machine& m = machine();
  const auto a = reinterpret_cast<std::uintptr_t>(data);
  const GlobalArray* r = m.global.find(a);
  m.fail("bounds", format("array %s[%lld] is out of bounds: it has %lld elements\n  %s %s it {pc:%x}", r ? r->name.c_str() : "", (long long)index, (long long)count,
                          m.name(*m.current).c_str(), write ? "uses" : "reads", m.offset(PC)));
}

void ev_sim_outside_local(int64_t index, int64_t count, const char* kind) {
  Machine& m = machine();
  m.fail("bounds", format("index %lld of a %s array is out of bounds: it has %lld elements\n  %s uses it {pc:%x}", (long long)index, kind, (long long)count,
                          m.name(*m.current).c_str(), m.offset(PC)));
}

void ev_sim_print(char kind, const void* p, size_t size) {
  std::string& printed = machine().printed;
  const auto length = static_cast<std::uint32_t>(size);
  printed += kind;
  printed.append(reinterpret_cast<const char*>(&length), sizeof length);
  if (size) printed.append(static_cast<const char*>(p), size);
}

void ev_sim_invoke(const char* name, int64_t argument) {
  Machine& m = machine();
  m.settle();
  Thread& t = here();
  Call c;
  c.thread = Graphs::number(t);
  c.name = name;
  c.who = format("%u.%d", t.block->linear, t.rank);
  c.argument = argument;
  c.began = m.graphs ? m.graphs->operations(t) : m.history.now();
  if (m.graphs) c.causes = m.graphs->causes(t);
  m.history.begin(std::move(c));
}

void ev_sim_respond(int64_t result) {
  Machine& m = machine();
  m.settle();
  Thread& t = here();
  const std::uint64_t at = m.graphs ? m.graphs->operations(t) : m.history.now();
  if (!m.history.end(Graphs::number(t), result, at)) m.fail("assertion", format("%s responds to nothing: ev::invoke comes first\n  {pc:%x}", m.name(t).c_str(), m.offset(PC)));
}

void ev_sim_assertion_failed(const char* text, const char* got) {
  Machine& m = machine();
  m.fail("assertion", format("%s: expected it to hold, got %s\n  in %s {pc:%x}", text, got, m.name(here()).c_str(), m.offset(PC)));
}

}
