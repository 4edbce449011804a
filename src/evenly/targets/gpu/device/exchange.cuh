// What the members of a group tell each other in the setup of a schedule: sums, prefix sums, and each other's numbers.
//
// A team is the group of the owned engine (group.cuh), or `members` below. All threads of a team must come to each
// call, in the same order. V is an integer.
#pragma once
#include "group.cuh"

namespace ev {

// G consecutive threads of a block of T, in schedules whose tiles do not belong to groups. T is a multiple of G. All
// threads of the block come to each call, so groups that straddle warps use the block's barrier.
template <int G, int T> struct members {
  static_assert(T % G == 0, "blocks of whole groups");
  static constexpr bool in_warp = 32 % G == 0;
  static constexpr int per_block = T / G;
  EV_DEVICE int rank() const { return thread_rank() % G; }
  EV_DEVICE int local() const { return thread_rank() / G; }
  static EV_DEVICE constexpr int size() { return G; }
  EV_DEVICE bool active() const { return true; }
  EV_DEVICE unsigned mask() const {
    if constexpr (G >= 32) return full_warp;
    else return ((1u << G) - 1u) << (lane_rank() - rank());
  }
  EV_DEVICE void sync() const {
    if constexpr (in_warp) sync_warp(mask());
    else barrier();
  }
};

// The numbers of all members, by rank, in shared memory. Each Tag has memory of its own, which is written once.
template <int Tag, class Team, class V> EV_DEVICE const V* gather(const Team& team, V v) {
  EV_SHARED(V, memory, Team::per_block * Team::size());
  V* own = memory + team.local() * Team::size();
  if (team.active()) own[team.rank()] = v;
  team.sync();
  return own;
}

// The number of the member `rank`, of those that a group of G has gathered. The emulator reports other ranks.
template <int G, class V> EV_DEVICE V peer(const V* numbers, long long rank) {
#ifdef EV_HOST
  if (rank < 0 || rank >= G) assertion_failed("the rank is one of the group");
#endif
  return numbers[rank];
}

// Memory for two numbers of each member, which groups of several warps use again and again.
template <class Team, class V> EV_DEVICE V* exchange_memory(const Team& team) {
  EV_SHARED(V, memory, 2 * Team::per_block * Team::size());
  return memory + 2 * team.local() * Team::size();
}

// The sum of the numbers of all ranks up to this one, and of all ranks. In a round of distance o, a member adds the sum
// of the o ranks before those that it has. The halves of the memory alternate: a thread that writes a half again has
// passed the barrier of the round between, so all reads of that half are over.
template <class Team, class V> EV_DEVICE V group_sums(const Team& team, V v, V& all) {
  constexpr int G = Team::size();
  if constexpr (G == 1) return all = v;
  else if constexpr (Team::in_warp) {
    #pragma unroll
    for (int o = 1; o < G; o <<= 1) {
      V before = shuffle_up(team.mask(), v, o);
      if (team.rank() >= o) v += before;
    }
    all = shuffle_from(team.mask(), v, lane_rank() - team.rank() + G - 1);
    return v;
  } else {
    V* half = exchange_memory<Team, V>(team);
    V* other = half + G;
    team.sync();  // an earlier exchange may still be read
    for (int o = 1; o < 2 * G; o <<= 1) {  // the last round only passes the sum of all on
      if (team.active()) half[team.rank()] = v;
      team.sync();
      if (o < G) { if (team.active() && team.rank() >= o) v += half[team.rank() - o]; }
      else all = half[G - 1];
      V* written = half;
      half = other;
      other = written;
    }
    return v;
  }
}

template <class Team, class V> EV_DEVICE V group_sum(const Team& team, V v) {
  V all;
  group_sums(team, v, all);
  return all;
}
template <class Team, class V> EV_DEVICE V group_sum_through(const Team& team, V v) {
  V all;
  return group_sums(team, v, all);
}
template <class Team, class V> EV_DEVICE V group_sum_below(const Team& team, V v) {
  return group_sum_through(team, v) - v;
}

// The number of the member `rank`, which may be another one for each member.
template <class Team, class V> EV_DEVICE V group_broadcast(const Team& team, V v, V rank) {
  if constexpr (Team::size() == 1) return v;
  else if constexpr (Team::in_warp) return shuffle_from(team.mask(), v, lane_rank() - team.rank() + (int)rank);
  else {
    V* half = exchange_memory<Team, V>(team);
    team.sync();  // an earlier exchange may still be read
    if (team.active()) half[team.rank()] = v;
    team.sync();
    return half[team.active() ? rank : 0];
  }
}

}  // namespace ev
