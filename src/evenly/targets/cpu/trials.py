"""Which of two ways is the quicker one, by the clock, where both give the same bits: unrolled or staged sums.

A worker runs its tiles in pieces. The first four are a trial: one way, twice the other, the first again, so that a
drift falls on both. Then it goes on in the quicker way for some pieces before the next trial: for twice as many if that
has the same outcome. So what branches the processor foresees need not be known, nor what it costs if it does not.

`trial` points to words of 64 bits.
"""

from __future__ import annotations

from numba import njit

from .trial_words import BEGAN, QUICKER, RUN, STAGED, TILES, TOOK, TRIAL, TURN
from .words import now

ORDER = 0b0110  # which turns of a trial are staged
TURNS = 4
PIECE = 1024  # tiles and atoms of a turn
WORTH = 8 * PIECE  # the least tiles and atoms of a worker that tries
SHORTEST, LONGEST = 16, 256  # turns that a run is as long as
LEAST = 1  # atoms of four tiles: with less on average, unrolled code is quicker anyway


@njit
def trial_begins(trial, tiles, atoms):
    for word in range(TRIAL):
        trial[word] = 0
    trial[RUN] = SHORTEST
    trial[TILES] = max(1, PIECE * tiles // (tiles + atoms)) if tiles + atoms >= WORTH else tiles
    trial[BEGAN] = now()


@njit
def trial_tiles(trial):
    """Return how many tiles the next piece has."""
    return trial[TILES] * (trial[RUN] if trial[TURN] == TURNS else 1)


@njit
def trial_stages(trial):
    return trial[STAGED] != 0


@njit
def trial_ends(trial, tiles, atoms, most):
    """Choose the way of the next piece, after one of so many tiles and atoms.

    most: with more atoms a tile, unrolled code is quicker.
    """
    ended, work = now(), tiles + atoms
    if trial[TURN] == TURNS:
        trial[TURN] = trial[TOOK] = trial[TOOK + 1] = 0
    elif work >= 4 * PIECE:
        pass  # one tile would speak for all
    elif 4 * atoms < LEAST * tiles or atoms > most * tiles:
        trial[TURN], trial[TOOK] = TURNS, 0
    else:
        trial[TOOK + trial[STAGED]] += 1000 * (ended - trial[BEGAN]) // max(work, 1)
        trial[TURN] += 1
    if trial[TURN] < TURNS:
        trial[STAGED] = ORDER >> trial[TURN] & 1
    else:
        trial[STAGED] = 1 if trial[TOOK + 1] < trial[TOOK] else 0
        again = trial[STAGED] == trial[QUICKER]
        trial[RUN] = min(2 * trial[RUN], LONGEST) if again else SHORTEST
        trial[QUICKER] = trial[STAGED]
    trial[BEGAN] = ended
