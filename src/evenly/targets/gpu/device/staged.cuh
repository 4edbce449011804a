// An array of which a part is in shared memory, where the members of a group have copied it.
#pragma once
#include "group.cuh"

namespace ev {

// The elements first, ..., last - 1 of an array: in `memory`, if there are at most N of them, or else where they are.
template <class T, int N, class P> struct staged {
  const T* own;
  P first, last;
  // All members of the team call it. The barriers: nobody still reads what was here before; the copy is complete.
  template <class Team>
  EV_DEVICE staged(T* memory, const T* data, P first, P last, const Team& team)
      : own(last - first <= N ? memory - first : data), first(first), last(last) {
    team.sync();
    if (own != data && team.active())
      for (P i = first + team.rank(); i < last; i += team.size()) memory[i - first] = load_cached(data + i);
    team.sync();
  }
  template <class I> EV_DEVICE T operator[](I i) const {
#ifdef EV_HOST
    if (i < first || i >= last) assertion_failed("an element that is read is staged");
#endif
    return own[i];
  }
};

}  // namespace ev
