// Links handle the tiles that a block shares with others. A finish kernel joins such a tile (carry.cuh), or a block
// does (meet.cuh); if the phase has no value, there is nothing to join. The engines of split.cuh report to a link what
// they find. The type of `join`, Carries or Meeting, selects the link.
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
// The same for a block with several chunks: the tile that is open at the end of one goes on in the next.
template <class Phase, int T> struct persistent_link : carry_link<Phase, T> {
  using carry_link<Phase, T>::carry_link;
  template <class... More> EV_DEVICE void found_open(const More&...) const {}
};
// For phases without a value, and for tiles that no two blocks share.
struct no_link {
  EV_DEVICE no_link() {}
  template <class C> EV_DEVICE no_link(const C&) {}
  template <class P, class Value> EV_DEVICE void found_head(P, const Value&) const {}
  template <class... More> EV_DEVICE void found_open(const More&...) const {}
  template <class Phase, class P> EV_DEVICE void located(const Phase&, P, P, bool) const {}
  EV_DEVICE void without_atoms() const {}
  template <class Phase, class Grid> EV_DEVICE void join(const Phase&, Grid&) const {}
};
template <class Phase, int T, int S, class Rule, int AtOnce> EV_DEVICE meeting_link<Phase, T, S, Rule, AtOnce> link_for(const Meeting<Phase>& m) { return {m}; }
template <class Phase, int T, int S, class Rule, int AtOnce> EV_DEVICE carry_link<Phase, T> link_for(const Carries<Phase>& c) { return {c}; }

}  // namespace ev
