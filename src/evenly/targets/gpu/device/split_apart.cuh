// Atoms that have nothing in common, each with a dense axis of its own, as rows that are moved. A block takes its share of
// the line of all tiles and atoms, as in split.cuh, and its teams of L threads take equal parts of that. A team lies along
// the axis of an atom (dense.cuh). It walks the atoms of its part, tile by tile, with the code that whole tiles have. There
// are no sums, so no team has to know of another.
//
//     ev::team_atoms<Phase, T, I, Rule, L> own(phase, team, first_tile);
//     for (pos tile = own.first(); own.goes_on(); tile = own.after(tile)) {
//       pos begin = phase.begin(tile), end = phase.end(tile);
//       own.clip(begin, end);                                   // to the atoms of the part
//       ...
//     }
#pragma once
#include "rules.cuh"

namespace ev {

template <class Phase, int T, int I, class Rule, int L> struct team_atoms {
  using pos = typename Phase::pos;
  const Phase& phase;
  pos tile, next, stop;  // a tile that is not after that of the first atom; the atoms that are left

  // first_tile: a stored partition of the blocks. null: the team searches among all tiles.
  template <class Team> EV_DEVICE team_atoms(const Phase& p, const Team& team, const pos* first_tile) : phase(p) {
    const int own = team.local();
    const pos from = team_cut<Phase, T * I, Rule>(phase, own * I * L), to = team_cut<Phase, T * I, Rule>(phase, (own + 1) * I * L);
    tile = team_search<Rule, L>(phase, team, from, first_tile);
    next = Rule::atom(from, tile);
    stop = Rule::atom(to, Rule::bounded ? team_search<Rule, L>(phase, team, to, first_tile) : 0);
  }
  EV_DEVICE bool goes_on() const { return next < stop; }
  // The tile of the team's first atom, if it has one; and the tile of the first one after those of `last`.
  EV_DEVICE pos first() const { return goes_on() ? containing(tile) : 0; }
  EV_DEVICE pos after(pos last) {
    next = phase.end(last);
    return goes_on() ? containing(last + 1) : last;
  }
  EV_DEVICE void clip(pos& begin, pos& end) const {
    begin = begin > next ? begin : next;
    end = end < stop ? end : stop;
  }

private:
  EV_DEVICE pos containing(pos from) const {
    return phase.end(from) > next ? from : thread_tile_of(phase, next, from + 1, phase.num_tiles());
  }
};

}  // namespace ev
