"""How tiles and atoms are divided among workers. The host gives each worker a share, which has six numbers:

    0 first tile, 1 first atom                 where the share starts
    2 end of tiles, 3 end of atoms             where it ends; its last tile may be partial
    4 first whole tile, 5 end of whole tiles   the tiles that the worker leaves, since no other has a piece of them

The merge path counts a tile as one item, which comes after the tile's atoms, so that the
end of tile t is item number end(t) + t. An even cut of the items is an even cut of the work,
whatever the tiles' lengths (Merrill and Garland, SC 2016).
"""

from __future__ import annotations

SHARE = 6  # numbers per worker

# merge: tiles and atoms are divided evenly. nonzero: atoms are divided evenly, and the empty tiles at the end of a
# share (and at the start of the first) belong to it. tiles: tiles are divided evenly. own: the schedule's code divides.
RULES = {"merge": 0, "nonzero": 1, "tiles": 2, "own": 3}
