// What becomes of a tile that a block shares with others: a finish kernel joins it (carry.cuh), or the block itself does
// (meet.cuh), or, without a value, nobody. The engines of split.cuh tell a link what they find; which link it is follows
// from what the kernel was given, Carries or Meeting.
#pragma once
#include "carry.cuh"
#include "meet.cuh"

namespace ev {

template <class Phase, int T> struct carry_link {
  using pos = typename Phase::pos;
  using Value = typename Phase::Value;
  const Carries<Phase>& carries;
  EV_DEVICE carry_link(const Carries<Phase>& c) : carries(c) {
    if (thread_rank() == 0) carries.head_tile[block_rank()] = -1;
  }
  EV_DEVICE void located(const Phase&, pos, pos, bool) const {}
  EV_DEVICE void found_head(pos tile, const Value& part) const { carry_head(carries, tile, part); }
  EV_DEVICE void found_open(const Phase&, pos tile, pos, const Value& part) const {
    if (thread_rank() == T - 1) carry_out(carries, tile, part);
  }
  EV_DEVICE void without_atoms() const {
    if (thread_rank() == T - 1) carry_out(carries, (pos)carry_nothing, Phase::identity());
  }
  template <class Grid> EV_DEVICE void join(const Phase&, Grid&) const {}
};
// The same of a block of several chunks: what is open at the end of one goes on in the next.
template <class Phase, int T> struct persistent_link : carry_link<Phase, T> {
  using carry_link<Phase, T>::carry_link;
  template <class... More> EV_DEVICE void found_open(const More&...) const {}
};
struct no_link {
  template <class C> EV_DEVICE no_link(const C&) {}
  template <class Phase, class P> EV_DEVICE void located(const Phase&, P, P, bool) const {}
  EV_DEVICE void without_atoms() const {}
  template <class Phase, class Grid> EV_DEVICE void join(const Phase&, Grid&) const {}
};
template <class Phase, int T, int S, class Rule, int AtOnce> EV_DEVICE meeting_link<Phase, T, S, Rule, AtOnce> link_for(const Meeting<Phase>& m) { return {m}; }
template <class Phase, int T, int S, class Rule, int AtOnce> EV_DEVICE carry_link<Phase, T> link_for(const Carries<Phase>& c) { return {c}; }

}  // namespace ev
