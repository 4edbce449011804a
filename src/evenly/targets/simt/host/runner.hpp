// Runs the threads of a block as fibers on one CPU thread.
//
// A fiber runs until it must wait: at a barrier, a shuffle, a vote. The order in which those that can run do run is
// chosen by a seed, so that a test can look at several interleavings and repeat each. Seed 0 takes warps and lanes in
// order; another even seed lets one warp run ahead as far as it can, which finds missing barriers; an odd one switches
// warps all the time. Blocks run one after another.
//
// What CUDA leaves undefined is an error here: a collective whose mask names a thread that has left, or that is called
// from different places by the lanes of one mask; a named barrier that part of a warp reaches; a block in which every
// thread waits. `Failure` says who waits where. Shared memory starts as poison, and so does what a shuffle reads from
// outside its mask.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace ev {
namespace sim {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// ---- fibers ------------------------------------------------------------------------------------------------------------
// Switching saves what the calling convention says a callee saves. On x86-64 that is seven registers; swapcontext would
// add a system call each time, and a block of 256 threads switches some ten thousand times.
#if defined(__x86_64__)
struct Context { void* stack_pointer = nullptr; };
extern "C" void evenly_switch(void** save, void* to);
asm(R"(
.pushsection .text
.weak evenly_switch
.type evenly_switch, @function
evenly_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size evenly_switch, .-evenly_switch
.popsection
)");
inline void switch_to(Context& from, Context& to) { evenly_switch(&from.stack_pointer, to.stack_pointer); }
inline void prepare(Context& c, char* stack, std::size_t bytes, void (*entry)()) {
  auto top = (reinterpret_cast<std::uintptr_t>(stack) + bytes) & ~std::uintptr_t(15);
  void** p = reinterpret_cast<void**>(top);
  *--p = nullptr;                            // where entry would return to: it never does; keeps the stack aligned
  *--p = reinterpret_cast<void*>(entry);
  for (int i = 0; i < 6; ++i) *--p = nullptr;
  c.stack_pointer = p;
}
#else
struct Context { ucontext_t context; };
inline void switch_to(Context& from, Context& to) { swapcontext(&from.context, &to.context); }
inline void prepare(Context& c, char* stack, std::size_t bytes, void (*entry)()) {
  getcontext(&c.context);
  c.context.uc_stack.ss_sp = stack;
  c.context.uc_stack.ss_size = bytes;
  c.context.uc_link = nullptr;
  makecontext(&c.context, entry, 0);
}
#endif

// ---- what a thread waits for ---------------------------------------------------------------------------------------------
enum class Wait { none, barrier, sync_warp, shuffle, ballot };
inline const char* name_of(Wait w) {
  const char* names[] = {"runs", "barrier", "sync_warp", "shuffle", "vote"};
  return names[static_cast<int>(w)];
}

struct Site {  // where in the source; same call, same site
  const char* file;
  int line;
  bool operator==(const Site& o) const { return line == o.line && std::strcmp(file, o.file) == 0; }
};

struct Thread {
  int rank = 0;
  bool exited = false;
  Wait wait = Wait::none;
  Site site{"", 0};
  unsigned mask = 0;         // of a warp collective
  int barrier_id = 0, barrier_count = 0;
  std::uint64_t offered = 0; // the bits handed in
  int source = 0;            // the lane asked for (shuffle)
  std::uint64_t result = 0;
  Context context;
};

// The bits of a value that came from nowhere.
constexpr std::uint64_t poison = 0xa5a5a5a5a5a5a5a5ull;

class Block {
public:
  Block(int threads, std::uint64_t seed)
      : random(seed * 0x9e3779b97f4a7c15ull + 1), in_order(seed == 0), runs_ahead(seed % 2 == 0), threads(threads), ready((threads + 31) / 32) {
    for (int i = 0; i < threads; ++i) this->threads[i].rank = i;
  }

  Thread* current = nullptr;

  // ---- called by fibers ----
  void barrier(int id, int count, Site site) {
    if (count % 32 != 0 || count > size() || id < 0 || id > 15) fail(text("barrier %d of %d threads in a block of %d", id, count, size()), site);
    current->barrier_id = id;
    current->barrier_count = count;
    stop(Wait::barrier, site);
  }
  // Returns what the collective gave this lane: the shuffled bits, or the ballot.
  std::uint64_t warp(Wait kind, unsigned mask, std::uint64_t offered, int source, Site site) {
    int lane = current->rank % 32;
    if (!(mask >> lane & 1)) fail(text("%s: mask %08x does not name the calling lane %d", name_of(kind), mask, lane), site);
    current->mask = mask;
    current->offered = offered;
    current->source = source;
    stop(kind, site);
    return current->result;
  }

  // Memory of the block, the same for every thread that asks with the same key.
  void* shared(const void* key, std::size_t bytes) {
    for (auto& s : memory) if (s.key == key) return s.data.get();
    memory.push_back({key, std::unique_ptr<char, decltype(&std::free)>(static_cast<char*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64)), &std::free)});
    std::memset(memory.back().data.get(), 0xa5, bytes);
    shared_bytes += bytes;
    return memory.back().data.get();
  }
  std::size_t shared_bytes = 0;

  [[noreturn]] void fail(const std::string& what, Site site) {
    failure = text("thread %d at %s:%d: ", current->rank, base_name(site.file), site.line) + what;
    switch_to(current->context, scheduler);
    std::abort();
  }

  // ---- the scheduler ----
  template <class Body> void run(const Body& body, char* stacks, std::size_t stack_bytes) {
    entry_body = &body;
    entry_call = [](const void* b) { (*static_cast<const Body*>(b))(); };
    active() = this;
    for (auto& t : threads) {
      prepare(t.context, stacks + t.rank * stack_bytes, stack_bytes, &Block::entry);
      wake(t);
    }
    while (ready_count > 0) {
      current = &threads[next_ready()];
      switch_to(scheduler, current->context);
      if (!failure.empty()) throw Failure(failure);
      if (current->exited) left();
      else arrived();
    }
    if (exited != size()) throw Failure("deadlock: every thread waits\n" + who_waits());
    active() = nullptr;
  }

  static Block*& active() { static Block* b = nullptr; return b; }

private:
  struct Memory { const void* key; std::unique_ptr<char, decltype(&std::free)> data; };
  std::uint64_t random;
  bool in_order, runs_ahead;
  std::vector<Thread> threads;
  std::vector<std::vector<int>> ready;  // by warp
  int ready_count = 0, favoured = 0;    // the warp that ran last
  std::vector<Memory> memory;
  Context scheduler;
  std::string failure;
  int exited = 0;
  struct Barrier { int here = 0, count = 0; } barriers[16];
  const void* entry_body = nullptr;
  void (*entry_call)(const void*) = nullptr;

  int size() const { return static_cast<int>(threads.size()); }

  static void entry() {
    Block* b = active();
    b->entry_call(b->entry_body);
    b->current->exited = true;
    switch_to(b->current->context, b->scheduler);
    std::abort();
  }

  void stop(Wait kind, Site site) {
    current->wait = kind;
    current->site = site;
    switch_to(current->context, scheduler);
  }

  void wake(Thread& t) {
    t.wait = Wait::none;
    ready[t.rank / 32].push_back(t.rank);
    ++ready_count;
  }

  std::uint64_t next_random() {
    random ^= random << 13; random ^= random >> 7; random ^= random << 17;
    return random;
  }

  int next_ready() {
    const int warps = static_cast<int>(ready.size());
    if (!runs_ahead || ready[favoured].empty()) {
      favoured = in_order ? 0 : static_cast<int>(next_random() % warps);
      while (ready[favoured].empty()) favoured = (favoured + 1) % warps;
    }
    auto& lanes = ready[favoured];
    if (!in_order) std::swap(lanes[next_random() % lanes.size()], lanes.back());
    int rank = lanes.back();
    lanes.pop_back();
    --ready_count;
    return rank;
  }

  void arrived() { current->wait == Wait::barrier ? try_barrier() : try_warp(); }

  // Nobody may still count on a thread that has left: the mask that names it would be a lie.
  void left() {
    ++exited;
    for (auto& t : threads) if (waits_for(t, current->rank)) broken(t, current->rank);
  }
  bool waits_for(const Thread& t, int rank) const {
    if (t.wait == Wait::none) return false;
    if (t.wait == Wait::barrier) return t.barrier_count == size();
    return t.rank / 32 == rank / 32 && (t.mask >> rank % 32 & 1);
  }
  [[noreturn]] void broken(const Thread& t, int gone) {
    throw Failure(text("thread %d waits at %s (%s:%d) for thread %d, which has left the kernel", t.rank, name_of(t.wait),
                       base_name(t.site.file), t.site.line, gone));
  }

  void try_barrier() {
    const int id = current->barrier_id, count = current->barrier_count;
    Barrier& b = barriers[id];
    if (b.here == 0) b.count = count;
    if (b.count != count) throw Failure(text("barrier %d: thread %d waits for %d threads, others for %d", id, current->rank, count, b.count));
    if (exited > 0 && count == size())
      for (auto& t : threads) if (t.exited) broken(*current, t.rank);
    if (++b.here < count) return;
    b.here = 0;
    for (int w = 0; w * 32 < size(); ++w) {
      int lanes = 0;
      for (int i = w * 32; i < size() && i < w * 32 + 32; ++i) lanes += threads[i].wait == Wait::barrier && threads[i].barrier_id == id;
      if (lanes != 0 && lanes != 32 && lanes != size() - w * 32) throw Failure(text("barrier %d: only %d lanes of warp %d are there\n", id, lanes, w) + who_waits());
    }
    for (auto& t : threads) if (t.wait == Wait::barrier && t.barrier_id == id) wake(t);
  }

  void try_warp() {
    const int base = current->rank / 32 * 32;
    const unsigned mask = current->mask;
    for (int lane = 0; lane < 32; ++lane) {
      if (!(mask >> lane & 1)) continue;
      if (base + lane >= size()) throw Failure(text("mask %08x names lane %d, which the block does not have", mask, lane));
      Thread& t = threads[base + lane];
      if (t.exited) broken(*current, t.rank);
      if (t.wait == Wait::none || t.wait == Wait::barrier || t.mask != mask) return;  // on its way, or elsewhere first
      if (t.wait != current->wait || !(t.site == current->site))
        throw Failure(text("mask %08x: thread %d is at %s (%s:%d), thread %d at %s (%s:%d)", mask, t.rank, name_of(t.wait), base_name(t.site.file),
                           t.site.line, current->rank, name_of(current->wait), base_name(current->site.file), current->site.line));
    }
    unsigned votes = 0;
    for (int lane = 0; lane < 32; ++lane) if (mask >> lane & 1) votes |= unsigned(threads[base + lane].offered & 1) << lane;
    for (int lane = 0; lane < 32; ++lane) {
      if (!(mask >> lane & 1)) continue;
      Thread& t = threads[base + lane];
      t.result = t.wait == Wait::ballot ? votes : mask >> t.source & 1 ? threads[base + t.source].offered : poison;
    }
    for (int lane = 0; lane < 32; ++lane) if (mask >> lane & 1) wake(threads[base + lane]);
  }

  static bool same_wait(const Thread& a, const Thread& b) {
    if (a.exited || b.exited) return a.exited && b.exited;
    return a.wait == b.wait && a.site == b.site && (a.wait == Wait::barrier ? a.barrier_id == b.barrier_id : a.mask == b.mask);
  }
  std::string who_waits() const {
    std::string all;
    for (int from = 0; from < size();) {  // neighbours that wait for the same thing on one line
      const Thread& a = threads[from];
      int to = from + 1;
      while (to < size() && same_wait(a, threads[to])) ++to;
      if (a.exited) all += text("  threads %d..%d have left\n", from, to - 1);
      else if (a.wait == Wait::barrier) all += text("  threads %d..%d wait at barrier %d of %d (%s:%d)\n", from, to - 1, a.barrier_id, a.barrier_count, base_name(a.site.file), a.site.line);
      else all += text("  threads %d..%d wait at %s %08x (%s:%d)\n", from, to - 1, name_of(a.wait), a.mask, base_name(a.site.file), a.site.line);
      from = to;
    }
    return all;
  }

  static const char* base_name(const char* path) {
    const char* slash = std::strrchr(path, '/');
    return slash ? slash + 1 : path;
  }
  template <class... A> static std::string text(const char* format, A... a) {
    char line[512];
    std::snprintf(line, sizeof line, format, a...);
    return line;
  }
};

// ---- a launch --------------------------------------------------------------------------------------------------------------
struct Launch { int blocks_x = 1, blocks_y = 1, threads = 1, block_x = 0, block_y = 0; };
inline Launch& launch_now() { static Launch l; return l; }

constexpr std::size_t stack_bytes = 64 * 1024;

// Runs `kernel` (a callable without arguments) as blocks_x times blocks_y blocks. Returns a block's bytes of shared
// memory. Throws Failure.
template <class Kernel> std::size_t launch(int blocks_x, int blocks_y, int threads, std::uint64_t seed, const Kernel& kernel) {
  static std::unique_ptr<char[]> stacks(new char[stack_bytes * 1024]);
  std::size_t shared_bytes = 0;
  for (int y = 0; y < blocks_y; ++y)
    for (int x = 0; x < blocks_x; ++x) {
      launch_now() = {blocks_x, blocks_y, threads, x, y};
      Block block(threads, seed == 0 ? 0 : seed + 1000004ull * x);
      block.run(kernel, stacks.get(), stack_bytes);
      shared_bytes = block.shared_bytes;
    }
  return shared_bytes;
}

}  // namespace sim
}  // namespace ev
