// Recognises a thread that polls in vain for ever: it comes back to a state that it had, and memory has not changed.
//
// What a thread does next follows from its registers, its stack and what it reads. If all of these are as they were
// before, the thread goes round in a cycle until another thread changes what it reads. A loop that counts its rounds has
// another state each time, so it is never taken for one that waits.
#pragma once
#include <csetjmp>
#include <cstdint>
#include <cstring>

namespace ev::sim {

// Mixes 8 bytes at a time (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0xff51afd7ed558ccdull;
  return hash ^ hash >> 33;
}

// The state of the thread that calls: its registers, and its stack up to `top`. setjmp stores the registers that the
// caller may still use.
__attribute__((noinline)) inline std::uint64_t state_below(const char* top) {
  std::jmp_buf registers;
  std::memset(&registers, 0, sizeof registers);
  if (setjmp(registers) != 0) return 0;  // nobody jumps here
  std::uint64_t hash = 0, word;
  const char* at = reinterpret_cast<const char*>(&registers);
  for (std::size_t i = 0; i + 8 <= sizeof registers; i += 8) std::memcpy(&word, at + i, 8), hash = mixed(hash, word);
  for (at = static_cast<const char*>(__builtin_frame_address(0)); at < top; at += 8) std::memcpy(&word, at, 8), hash = mixed(hash, word);
  return hash;
}

// Clears the stack below the caller, so that what earlier calls have left there is no part of a state.
__attribute__((noinline)) inline void scrub() {
  char area[3072];
  std::memset(area, 0, sizeof area);
  asm volatile("" : : "r"(area) : "memory");
}

// Finds a repetition in a sequence of states without storing it (Brent, "An improved Monte Carlo factorization
// algorithm", BIT 1980).
class Cycle {
public:
  void restart() { length = 0; closed = false; }
  bool is_closed() const { return closed; }
  // Whether a state has come back since the last restart, up to this one.
  bool meets(std::uint64_t state) {
    if (closed) return true;
    if (length > 0 && state == anchor) return closed = true;
    if (length == 0 || length == reach) {
      anchor = state;
      reach = length == 0 ? 1 : 2 * reach;
      length = 0;
    }
    ++length;
    return false;
  }

private:
  std::uint64_t anchor = 0;
  std::uint32_t length = 0, reach = 1;
  bool closed = false;
};

}  // namespace ev::sim
