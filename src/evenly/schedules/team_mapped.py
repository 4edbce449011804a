"""One item for each team of several blocks, which meet in global memory: for few, very large items."""

from __future__ import annotations

from .contract import Schedule, check_block, check_count, schedule
from .group_mapped import GroupMapped

MOST_BLOCKS = 1024  # of a team; a GPU has fewer multiprocessors


@schedule
class TeamMapped(Schedule):
    """One item of a batch for each team of `blocks` blocks of `block` threads. It is for loops over items only.

    blocks: 1 to 1,024. Where the GPU runs fewer of them at once, a team has as many as these. The more there are, the
    less time an item's tiles take, and the longer its blocks wait for each other, after each loop over tiles.

    On a GPU a multiprocessor has one of these blocks, or two of up to 512 threads, and the launch is cooperative: the
    driver starts all of its blocks at once, or refuses it. Scratch arrays are in global memory. What is staged, each
    block copies for itself. The inner schedule owns whole tiles. On the other targets a team is one group of `block`
    threads.
    """

    blocks: int = 8
    block: int = 1024

    owner = "group"
    engine = "team"
    tiles = GroupMapped.tiles
    atoms = GroupMapped.atoms
    flatten = False

    @property
    def size(self):
        return self.block

    def __post_init__(self):
        check_block("TeamMapped", self.block)
        check_count("TeamMapped", "blocks", self.blocks, 1, MOST_BLOCKS)

    def launch(self, layout):
        return layout.num_tiles * self.blocks, self.block
