// An array of which a part is in shared memory, where the members of a group have copied it.
#pragma once
#include "group.cuh"

namespace ev {

// The elements first, ..., last - 1 of an array in shared memory: `elements[i]` for each i of these.
template <class T, class P> struct near_part {
  const T* elements;
  P first, last;
  template <class I> EV_DEVICE T operator[](I i) const {
#ifdef EV_HOST
    if (i < first || i >= last) assertion_failed("an element that is read is staged");
#endif
    return elements[i];
  }
};

// The same of an array of which at most N elements fit. Others are read where they are. A read does not branch: its
// pointer may point to either memory.
template <class T, int N, class P> struct staged {
  near_part<T, P> near;
  const T* own;
  // All members of the team call it. The barriers: nobody still reads what was here before; the copy is complete.
  template <class Team>
  EV_DEVICE staged(T* memory, const T* data, P first, P last, const Team& team)
      : near{memory - first, first, last}, own(fits() ? near.elements : data) {
    team.sync();
    if (fits() && team.active())
      for (P i = first + team.rank(); i < last; i += team.size()) memory[i - first] = load_cached(data + i);
    team.sync();
  }
  EV_DEVICE bool fits() const { return near.last - near.first <= N; }
  template <class I> EV_DEVICE T operator[](I i) const {
#ifdef EV_HOST
    if (i < near.first || i >= near.last) assertion_failed("an element that is read is staged");
#endif
    return own[i];
  }
};

// Calls walk(parts...), whose code is compiled twice: for parts that all are in shared memory, and for others. Where the
// compiler knows that memory, an address takes half the registers, and a read fewer instructions. The walk is a whole loop
// over tiles: in one over atoms, the branch itself took longer than that saves.
template <class Walk, class... Staged> EV_DEVICE void with_parts(const Walk& walk, const Staged&... parts) {
  if ((parts.fits() && ...)) walk(parts.near...);
  else walk(parts...);
}

}  // namespace ev
