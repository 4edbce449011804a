// Fibers: the threads of the emulated GPU, all on one thread of the operating system.
//
// On x86-64, a switch saves the stack pointer and what the compiler says that it needs.
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
inline __attribute__((always_inline)) void switch_to(Context& from, Context& to) {
  void** save = &from.stack_pointer;
  void* stack = to.stack_pointer;
  // Inline, and by a jump: a processor predicts wrongly where a call returns to if that is on another stack. 128 bytes
  // below the stack pointer may be the caller's.
  asm volatile(R"(
  leaq -128(%%rsp), %%rsp
  pushq %%rbp
  leaq 1f(%%rip), %%rax
  pushq %%rax
  movq %%rsp, (%0)
  movq %1, %%rsp
  popq %%rax
  jmpq *%%rax
1:
  popq %%rbp
  leaq 128(%%rsp), %%rsp
)" : "+D"(save), "+S"(stack) : : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
     "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
}
inline void prepare(Context& c, char* stack, std::size_t bytes, void (*entry)()) {
  auto top = (reinterpret_cast<std::uintptr_t>(stack) + bytes) & ~std::uintptr_t(15);
  void** p = reinterpret_cast<void**>(top);
  *--p = nullptr;                            // the return address of entry, which never returns; for alignment
  *--p = reinterpret_cast<void*>(entry);
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
