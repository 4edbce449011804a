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

// The beginning of a basic block (-fsanitize-coverage=trace-pc), for the counters and for lock step.
extern "C" void __sanitizer_cov_trace_pc() {
  Machine& m = machine();
  if (m.current && m.options.record) m.record(EventKind::block, m.offset(PC));
  if (m.current && m.options.lockstep) m.begin_block(PC);
}

extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}

// ---- atomics --------------------------------------------------------------------------------------------------------
// Other threads run first. Then the access is checked, before memory is read or written. Returns what is read.
__attribute__((noinline)) static std::uint64_t operation_begins(const void* p, std::size_t size, ev_atomic kind, int how, const void* pc, const Stored* stored) {
  Machine& m = machine();
  std::uint64_t value = 0;
  if (m.current) {
    m.current->polled = at(p);
    m.give_way(pc);
    m.current->within = true;
    if ((how & ev_orders) == ev_seq_cst) fence_of(m, how);  // as PTX has it: a fence, then an acquire or release
    const Special special{stored, (how & ev_of_block) != 0};
    access(at(p), size, kind == ev_atomic_load ? Access::atomic_read : Access::atomic, pc, kind != ev_atomic_store, kind != ev_atomic_load, false, &special);
    if (m.graphs) return kind == ev_atomic_store ? 0 : m.graphs->read(*m.current, at(p), size, kind == ev_atomic_update);
  }
  std::memcpy(&value, p, std::min(size, sizeof value));
  return value;
}

static inline __attribute__((always_inline)) std::uint64_t atomic_begin(const void* p, std::size_t size, ev_atomic kind, int how, const void* pc, const Stored* stored = nullptr) {
  if (machine().compares_states()) scrub();
  return operation_begins(p, size, kind, how, pc, stored);
}

static Scope scope_of(int how) { return how & ev_of_block ? block_scope : device_scope; }

static void has_read(Thread& t, const Published& published, int how) {
  const int order = how & ev_orders;
  if (order == ev_acquire || order >= ev_acq_rel) acquire(t.clock, t.block->linear, published, scope_of(how));
  atomic_reads(t.clock, t.block->linear, published);
}

static void atomic_end(void* p, std::size_t size, ev_atomic kind, int how, std::uint64_t before, std::uint64_t after) {
  Machine& m = machine();
  if (!m.current) return static_cast<void>(std::memcpy(p, &after, size));
  Thread& t = *m.current;
  t.within = false;
  const bool changed = kind != ev_atomic_load && before != after;
  t.idle = changed || m.changes != t.seen_changes ? 0 : t.idle + 1;
  if (changed) ++m.changes;
  t.seen_changes = m.changes;
  Slot& slot = t.block->slot;
  Published& published = m.graphs ? m.graphs->published() : (slot.shared.holds(at(p)) ? slot.published : m.published)[p];
  if (kind != ev_atomic_store) has_read(t, published, how);
  if (kind == ev_atomic_load) return;
  atomic_writes(t.clock, t.block->linear, published, kind == ev_atomic_update);
  const int order = how & ev_orders;
  if (order == ev_release || order >= ev_acq_rel) {
    Published mine;
    release(t.clock, t.block->linear, static_cast<std::uint32_t>(t.rank), mine, scope_of(how));
    add(t.releases[p], mine);
  }
  // "A release operation on M, followed by a strong write on M in program order" (PTX ISA, "Release and Acquire Patterns")
  if (!t.releases.empty()) {
    auto found = t.releases.find(p);
    if (found != t.releases.end()) add(published, found->second);
  }
  if (m.graphs) m.graphs->write(t, at(p), size, after, kind == ev_atomic_update);
  else std::memcpy(p, &after, size);
}

extern "C" uint64_t ev_sim_atomic_begin(const void* p, size_t size, ev_atomic kind, int how) { return atomic_begin(p, size, kind, how, PC); }
extern "C" uint64_t ev_sim_store_begin(const void* p, size_t size, uint64_t bits, int64_t who) {
  const Stored stored{bits, who};
  return atomic_begin(p, size, ev_atomic_store, ev_relaxed, PC, &stored);
}
extern "C" void ev_sim_atomic_end(void* p, size_t size, ev_atomic kind, int how, uint64_t before, uint64_t after) {
  atomic_end(p, size, kind, how, before, after);
}

// A volatile access is made by the kernel itself, after the hook. So what a read is to see is put into memory until the
// thread comes back to the runtime, and what a write has written is taken from there then.
static void poll(void* p, std::size_t size, ev_atomic kind, const void* pc) {
  const std::uint64_t value = atomic_begin(p, size, kind, ev_relaxed, pc);
  Machine& m = machine();
  if (!m.current) return;
  if (m.graphs) {
    if (kind == ev_atomic_load) has_read(*m.current, m.graphs->published(), ev_relaxed);
    return m.graphs->borrow(*m.current, at(p), size, value, kind == ev_atomic_store);
  }
  atomic_end(p, 0, kind, ev_relaxed, 0, kind == ev_atomic_store);
}

// ---- undefined behaviour --------------------------------------------------------------------------------------------
static void wrong(const char* kind, const char* what, const void* pc) {
  Machine& m = machine();
  if (m.current) m.fail(kind, format("%s\n  %s {pc:%x}", what, m.name(*m.current).c_str(), m.offset(pc)));
}
#define EV_UNDEFINED(name, what)                                                   \
  extern "C" void __ubsan_handle_##name(void*, ...) { wrong("undefined", what, PC); }       \
  extern "C" void __ubsan_handle_##name##_abort(void*, ...) { wrong("undefined", what, PC); }
EV_UNDEFINED(divrem_overflow, "an integer is divided by zero, or the least one by -1")
EV_UNDEFINED(shift_out_of_bounds, "a shift by a negative count or by more than the bits there are")
EV_UNDEFINED(builtin_unreachable, "a place that should never be reached")
EV_UNDEFINED(missing_return, "a function ends without the value that it should return")
EV_UNDEFINED(load_invalid_value, "a bool or enum that holds no value of its type")
EV_UNDEFINED(vla_bound_not_positive, "an array of no length")
EV_UNDEFINED(float_cast_overflow, "a floating-point number that does not fit the integer it is converted to")
EV_UNDEFINED(pointer_overflow, "pointer arithmetic overflows")
EV_UNDEFINED(nonnull_arg, "a null pointer where there must be none")
EV_UNDEFINED(invalid_builtin, "a count of the zeros of zero")

// What the compiler passes: the place, followed by types. A type's width is 2 to the power of its upper bits.
struct Type {
  std::uint16_t kind, width;
  char name[1];
  int bits() const { return 1 << (width >> 1); }
};
struct Place { const char* file; std::uint32_t line, column; };

// A value of up to 64 bits is passed as it is, a wider one by address.
static std::string number(const Type& type, std::uintptr_t value) {
  if (type.bits() > 64) return "a wide number";
  const int unused = 64 - type.bits();
  return std::to_string(static_cast<long long>(static_cast<std::uint64_t>(value) << unused) >> unused);
}

struct Operands { Place place; const Type* type; };
// The values of lanes that take no part in a shuffle may be added and thrown away, which is undefined in C++ only.
static void overflows(const Operands* what, const char* text, std::uintptr_t a, const char* sign, std::uintptr_t b, const void* pc) {
  Machine& m = machine();
  if (m.current && m.current->poisoned) return;
  const std::string left = sign[0] ? number(*what->type, a) + sign : "-";
  wrong("undefined", (text + std::string(" overflows: ") + left + number(*what->type, b) + " as " + what->type->name).c_str(), pc);
}
#define EV_OVERFLOW(name, text, sign)                                                                                                     \
  extern "C" void __ubsan_handle_##name(const Operands* what, std::uintptr_t a, std::uintptr_t b) { overflows(what, text, a, sign, b, PC); } \
  extern "C" void __ubsan_handle_##name##_abort(const Operands* what, std::uintptr_t a, std::uintptr_t b) { overflows(what, text, a, sign, b, PC); }
EV_OVERFLOW(add_overflow, "an addition of signed integers", " + ")
EV_OVERFLOW(sub_overflow, "a subtraction of signed integers", " - ")
EV_OVERFLOW(mul_overflow, "a multiplication of signed integers", " * ")
extern "C" void __ubsan_handle_negate_overflow(const Operands* what, std::uintptr_t a) { overflows(what, "the negation of a signed integer", 0, "", a, PC); }
extern "C" void __ubsan_handle_negate_overflow_abort(const Operands* what, std::uintptr_t a) { overflows(what, "the negation of a signed integer", 0, "", a, PC); }

// A pointer that is null, or misaligned, or leads out of the variable that it points to.
struct Mismatch {
  Place place;
  const Type* type;
  std::uint8_t alignment, kind;  // the alignment is a power of two
};
static void mismatch(const Mismatch* what, std::uintptr_t pointer, const void* pc) {
  const std::uintptr_t alignment = std::uintptr_t{1} << what->alignment;
  if (pointer == 0) wrong("bounds", "a null pointer", pc);
  else if (pointer % alignment != 0) wrong("undefined", format("an address of a %s is not aligned to its %zu bytes", what->type->name, static_cast<std::size_t>(alignment)).c_str(), pc);
  else wrong("bounds", format("an access as %s leads out of a local variable", what->type->name).c_str(), pc);
}
extern "C" void __ubsan_handle_type_mismatch_v1(const Mismatch* what, std::uintptr_t pointer) { mismatch(what, pointer, PC); }
extern "C" void __ubsan_handle_type_mismatch_v1_abort(const Mismatch* what, std::uintptr_t pointer) { mismatch(what, pointer, PC); }

// An index of an array whose length is in its type.
struct Outside {
  Place place;
  const Type* array;
  const Type* index;
};
static void outside(const Outside* what, std::uintptr_t index, const void* pc) {
  wrong("bounds", format("index %s is out of bounds of an array %s", number(*what->index, index).c_str(), what->array->name).c_str(), pc);
}
extern "C" void __ubsan_handle_out_of_bounds(const Outside* what, std::uintptr_t index) { outside(what, index, PC); }
extern "C" void __ubsan_handle_out_of_bounds_abort(const Outside* what, std::uintptr_t index) { outside(what, index, PC); }
