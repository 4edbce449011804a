// An array of which a part is in shared memory, where the members of a group have copied it.
#pragma once
#include "group.cuh"

namespace ev {

// Elements first, ..., last - 1 are read from `own`, if there are at most N of them; all others where they are.
template <class T, int N, class P> struct staged {
  const T* own;
  const T* data;
  P first, count;
  // All members of the team call it. The barriers: nobody still reads what was here before; the copy is complete.
  template <class Team>
  EV_DEVICE staged(T* memory, const T* p, P first, P last, const Team& team)
      : own(memory), data(p), first(first), count(last > first && last - first <= N ? last - first : 0) {
    team.sync();
    if (team.active())
      for (P i = team.rank(); i < count; i += team.size()) memory[i] = load_cached(p + first + i);
    team.sync();
  }
  template <class I> EV_DEVICE T operator[](I i) const {
    const auto place = i - first;
    const T* const p = place >= 0 && place < count ? own + place : data + i;  // no branch: loads stay in flight
    return *p;
  }
};

}  // namespace ev
