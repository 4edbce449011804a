// Scratch arrays: memory for each tile that is being run, whose length is known when the tile runs.
//
//     const ev::out<int> h(ev::scratch<1, 8192, 256>(team, memory, each, n));   // n elements, all zero
//
// In a block of T threads, every thread has `each` elements of `memory`, and its share of Bytes of shared memory. An
// array lies in what the threads of its team have, which is no other team's: in shared memory if it fits there, and the
// team is in one block. Near: it always does. Then the compiler knows that accesses are to shared memory. Zeros: false:
// the elements may be anything.
// All threads of the team call it, and none may use the array that a tile before had after that.
#pragma once
#include "group.cuh"

namespace ev {

template <int Tag, int Bytes> EV_DEVICE unsigned char* scratch_shares() {
  EV_SHARED(unsigned char, memory, Bytes);
  return memory;
}

// The length of a scratch array. The host has asked for the greatest one before the launch.
EV_DEVICE long long scratch_length(long long n, long long most) {
#ifdef EV_HOST
  if (n < 0) assertion_failed("the length of a scratch array is not negative");
#else
  if (n > most) __trap();
#endif
  return n;
}

template <int Tag, int Bytes, int T, bool Near = false, bool Zeros = true, class V, class Team>
EV_DEVICE V* scratch(const Team& team, V* memory, long long each, long long n) {
  const int first = thread_rank() - team.rank();  // the first thread of the team, which may be of a block before
  V* own = nullptr;
  if constexpr (!Near) {
    own = memory + ((long long)block_rank() * T + first) * each;
    n = scratch_length(n, each * team.size());
  }
  if constexpr (Bytes >= T && Team::in_one_block) {
    // The team's part, which begins and ends at a multiple of 16.
    const int begin = (Bytes * first / T + 15) / 16 * 16, end = Bytes * (first + Team::size()) / T / 16 * 16;
    if (Near || n * (long long)sizeof(V) <= end - begin) own = (V*)(scratch_shares<Tag, Bytes>() + begin);
  }
  team.sync();
  if constexpr (Zeros) {
    if (team.active())
      for (long long i = team.rank(); i < n; i += team.size()) own[i] = V();
    team.sync();
  }
  return own;
}

}  // namespace ev
