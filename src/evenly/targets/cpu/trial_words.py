"""The words of a trial (see `trials`): where each is, and how many there are."""

STAGED, QUICKER, TILES, TURN, RUN, BEGAN, TOOK = range(7)  # TOOK: a word for each way
TRIAL = TOOK + 2
