"""How tiles and atoms are divided among workers: the host gives each a share of six numbers.

    0 first tile, 1 first atom     where the share starts
    2 end of tiles, 3 end of atoms where it ends; its last tile may be partial
    4 first whole tile, 5 end of whole tiles   those that the worker leaves: no other has a piece

The merge path counts a tile as one item, which stands after the tile's atoms, so that the
end of tile t is item number end(t) + t. An even cut of the items is an even cut of the work,
whatever the tiles' lengths (Merrill and Garland, SC 2016).
"""

from __future__ import annotations

SHARE = 6  # numbers a worker

# merge: tiles and atoms evenly. nonzero: atoms evenly, with the empty tiles at the end of a
# share (and those at the start of the first). tiles: tiles evenly. own: the schedule's code.
RULES = {"merge": 0, "nonzero": 1, "tiles": 2, "own": 3}
