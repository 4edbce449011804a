// Fibers: the threads of the emulated GPU, all on one thread of the operating system.
//
// A switch saves the registers that a callee has to save under the calling convention. On x86-64 these are seven.
// swapcontext would add a system call to each switch, and a block of 256 threads makes about ten thousand of them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>
#include <sys/mman.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace ev::sim {

#if defined(__x86_64__)
struct Context { void* stack_pointer = nullptr; };
extern "C" void evenly_switch(void** save, void* to) __attribute__((visibility("hidden")));
asm(R"(
.pushsection .text
.hidden evenly_switch
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
  *--p = nullptr;                            // the return address of entry, which never returns; for alignment
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

// Zeroed memory, of which pages are allocated when they are first accessed.
class Pages {
public:
  Pages() = default;
  explicit Pages(std::size_t bytes) : size(bytes) {
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    start = static_cast<char*>(p);
  }
  Pages(Pages&& o) noexcept : start(o.start), size(o.size) { o.start = nullptr; }
  Pages& operator=(Pages&& o) noexcept { std::swap(start, o.start); std::swap(size, o.size); return *this; }
  ~Pages() { if (start) munmap(start, size); }

  char* data() const { return start; }
  std::size_t bytes() const { return size; }
  bool holds(std::uintptr_t a) const { return a - reinterpret_cast<std::uintptr_t>(start) < size; }

private:
  char* start = nullptr;
  std::size_t size = 0;
};

constexpr std::size_t stack_bytes = 64 * 1024;

}  // namespace ev::sim
