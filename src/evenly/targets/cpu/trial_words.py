"""The words of a trial (see `trials`): where each is, and how many there are."""

STAGED, TILES, TURN, BEGAN = range(4)
TOOK, RUN = 4, 6  # two words each: of unrolled code, of staged code
TRIAL = RUN + 2
