// The hooks that compiled kernels call: on every access to memory (-fsanitize=thread), and where an operation is
// undefined in C++ (-fsanitize=undefined). The sanitizers' own runtimes know neither fibers nor a GPU's memory.
#include "access.hpp"

using namespace ev::sim;

#define PC __builtin_return_address(0)
static std::uintptr_t at(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

// ---- memory ---------------------------------------------------------------------------------------------------------
#define EV_HOOKS(size)                                                                        \
  extern "C" void __tsan_read##size(void* p) { reads(at(p), size, PC); }                 \
  extern "C" void __tsan_write##size(void* p) { writes(at(p), size, PC); }               \
  extern "C" void __tsan_unaligned_read##size(void* p) { reads(at(p), size, PC); }       \
  extern "C" void __tsan_unaligned_write##size(void* p) { writes(at(p), size, PC); }     \
  extern "C" void __tsan_read_write##size(void* p) { reads(at(p), size, PC); writes(at(p), size, PC); }
EV_HOOKS(1)
EV_HOOKS(2)
EV_HOOKS(4)
EV_HOOKS(8)
EV_HOOKS(16)

// An object as a whole.
static void range_reads(const void* p, std::size_t size, const void* pc) { access(at(p), size, Access::read, pc, true, false, true); }
static void range_writes(const void* p, std::size_t size, const void* pc) { access(at(p), size, Access::write, pc, false, true, true); }
extern "C" void __tsan_read_range(void* p, unsigned long size) { range_reads(p, size, PC); }
extern "C" void __tsan_write_range(void* p, unsigned long size) { range_writes(p, size, PC); }
extern "C" void* __tsan_memcpy(void* to, const void* from, unsigned long n) {
  range_reads(from, n, PC);
  range_writes(to, n, PC);
  return std::memcpy(to, from, n);
}
extern "C" void* __tsan_memmove(void* to, const void* from, unsigned long n) {
  range_reads(from, n, PC);
  range_writes(to, n, PC);
  return std::memmove(to, from, n);
}
extern "C" void* __tsan_memset(void* to, int value, unsigned long n) {
  range_writes(to, n, PC);
  return std::memset(to, value, n);
}

// CUDA code polls by volatile accesses. So other threads run first, and such an access does not race with atomics.
static void poll(void* p, std::size_t size, ev_atomic kind, const void* pc);
#define EV_VOLATILE(size)                                                                           \
  extern "C" void __tsan_volatile_read##size(void* p) { poll(p, size, ev_atomic_load, PC); }                      \
  extern "C" void __tsan_volatile_write##size(void* p) { poll(p, size, ev_atomic_store, PC); }                    \
  extern "C" void __tsan_unaligned_volatile_read##size(void* p) { poll(p, size, ev_atomic_load, PC); }            \
  extern "C" void __tsan_unaligned_volatile_write##size(void* p) { poll(p, size, ev_atomic_store, PC); }
EV_VOLATILE(1)
EV_VOLATILE(2)
EV_VOLATILE(4)
EV_VOLATILE(8)
EV_VOLATILE(16)

// The beginning of a basic block (-fsanitize-coverage=trace-pc), for the counters.
extern "C" void __sanitizer_cov_trace_pc() {
  Machine& m = machine();
  if (m.current && m.options.record) m.record(EventKind::block, m.offset(PC));
}

extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}

// ---- atomics --------------------------------------------------------------------------------------------------------
// Other threads run first. Then the access is checked, before memory is read or written. Returns what is read.
static std::uint64_t atomic_begin(const void* p, std::size_t size, ev_atomic kind, const void* pc, const Stored* stored = nullptr) {
  Machine& m = machine();
  std::uint64_t value = 0;
  if (m.current) {
    m.current->polled = at(p);
    m.give_way(pc);
    access(at(p), size, kind == ev_atomic_load ? Access::atomic_read : Access::atomic, pc, kind != ev_atomic_store, kind != ev_atomic_load, false, stored);
    if (m.graphs) return kind == ev_atomic_store ? 0 : m.graphs->read(*m.current, at(p), size);
  }
  std::memcpy(&value, p, std::min(size, sizeof value));
  return value;
}

static void atomic_end(void* p, std::size_t size, ev_atomic kind, std::uint64_t before, std::uint64_t after) {
  Machine& m = machine();
  if (!m.current) return static_cast<void>(std::memcpy(p, &after, size));
  Thread& t = *m.current;
  const bool changed = kind != ev_atomic_load && before != after;
  t.idle = changed || m.changes != t.seen_changes ? 0 : t.idle + 1;
  if (changed) ++m.changes;
  t.seen_changes = m.changes;
  Slot& slot = t.block->slot;
  Published& published = m.graphs ? m.graphs->published() : (slot.shared.holds(at(p)) ? slot.published : m.published)[p];
  if (kind != ev_atomic_store) atomic_reads(t.clock, t.block->linear, published);
  if (kind != ev_atomic_load) atomic_writes(t.clock, t.block->linear, published, kind == ev_atomic_update);
  if (kind == ev_atomic_load) return;
  if (m.graphs) m.graphs->write(t, at(p), size, after, kind == ev_atomic_update);
  else std::memcpy(p, &after, size);
}

extern "C" uint64_t ev_sim_atomic_begin(const void* p, size_t size, ev_atomic kind) { return atomic_begin(p, size, kind, PC); }
extern "C" uint64_t ev_sim_store_begin(const void* p, size_t size, uint64_t bits, int64_t who) {
  const Stored stored{bits, who};
  return atomic_begin(p, size, ev_atomic_store, PC, &stored);
}
extern "C" void ev_sim_atomic_end(void* p, size_t size, ev_atomic kind, uint64_t before, uint64_t after) { atomic_end(p, size, kind, before, after); }

// A volatile access is made by the kernel itself, after the hook. So what a read is to see is put into memory until the
// thread comes back to the runtime, and what a write has written is taken from there then.
static void poll(void* p, std::size_t size, ev_atomic kind, const void* pc) {
  const std::uint64_t value = atomic_begin(p, size, kind, pc);
  Machine& m = machine();
  if (!m.current) return;
  if (m.graphs) {
    if (kind == ev_atomic_load) atomic_reads(m.current->clock, m.current->block->linear, m.graphs->published());
    return m.graphs->borrow(*m.current, at(p), size, value, kind == ev_atomic_store);
  }
  atomic_end(p, 0, kind, 0, kind == ev_atomic_store);
}

// ---- undefined behaviour --------------------------------------------------------------------------------------------
static void wrong(const char* kind, const char* what, const void* pc) {
  Machine& m = machine();
  if (m.current) m.fail(kind, format("%s\n  %s {pc:%x}", what, m.name(*m.current).c_str(), m.offset(pc)));
}
#define EV_UNDEFINED(name, what)                                                   \
  extern "C" void __ubsan_handle_##name(void*, ...) { wrong("undefined", what, PC); }       \
  extern "C" void __ubsan_handle_##name##_abort(void*, ...) { wrong("undefined", what, PC); }
EV_UNDEFINED(add_overflow, "an addition of signed integers overflows")
EV_UNDEFINED(sub_overflow, "a subtraction of signed integers overflows")
EV_UNDEFINED(mul_overflow, "a multiplication of signed integers overflows")
EV_UNDEFINED(negate_overflow, "the negation of a signed integer overflows")
EV_UNDEFINED(divrem_overflow, "an integer is divided by zero, or the least one by -1")
EV_UNDEFINED(shift_out_of_bounds, "a shift by a negative count or by more than the bits there are")
EV_UNDEFINED(builtin_unreachable, "a place that should never be reached")
EV_UNDEFINED(missing_return, "a function ends without the value that it should return")
EV_UNDEFINED(load_invalid_value, "a bool or enum that holds no value of its type")
EV_UNDEFINED(vla_bound_not_positive, "an array of no length")
EV_UNDEFINED(float_cast_overflow, "a floating-point number that does not fit the integer it is converted to")
EV_UNDEFINED(type_mismatch_v1, "a null or misaligned pointer")
EV_UNDEFINED(pointer_overflow, "pointer arithmetic overflows")
EV_UNDEFINED(nonnull_arg, "a null pointer where there must be none")
EV_UNDEFINED(invalid_builtin, "a count of the zeros of zero")

// An index of an array whose length is in its type. The compiler passes the place, followed by the type.
struct Outside {
  struct Type { std::uint16_t kind, width; char name[1]; };
  struct { const char* file; std::uint32_t line, column; } place;
  const Type* array;
  const Type* index;
};
static void outside(const Outside* what, std::uintptr_t index, const void* pc) {
  const int unused = 64 - (1 << (what->index->width >> 1));
  const auto value = static_cast<long long>(static_cast<std::uint64_t>(index) << unused) >> unused;
  wrong("bounds", format("index %lld is out of bounds of an array %s", value, what->array->name).c_str(), pc);
}
extern "C" void __ubsan_handle_out_of_bounds(const Outside* what, std::uintptr_t index) { outside(what, index, PC); }
extern "C" void __ubsan_handle_out_of_bounds_abort(const Outside* what, std::uintptr_t index) { outside(what, index, PC); }
