"""Which of two ways is the quicker one, by the clock, where both give the same bits: unrolled or staged sums.

A worker runs its tiles in pieces. The first four are a trial: one way, twice the other, the first again, so that a
drift falls on both. Then it goes on in the quicker way for some pieces before the next trial: a run. So what branches
the processor foresees need not be known, nor what it costs if it does not.

A trial may flatter unrolled code: in repeated calls it has the same few tiles, whose branches the processor learns,
though it cannot learn all tiles'. So an unrolled run that takes longer than staged code's trial is followed by a staged
one. A way's runs double as long as they are as quick as the trial said.

`trial` points to words of 64 bits.
"""

from __future__ import annotations

from numba import njit

from .trial_words import BEGAN, RUN, STAGED, TILES, TOOK, TRIAL, TURN
from .words import now

ORDER = 0b0110  # which turns of a trial are staged
TURNS = 4
PIECE = 1024  # tiles and atoms of a turn
WORTH = 8 * PIECE  # the least tiles and atoms of a worker that tries
SHORTEST, LONGEST = 16, 256  # turns that a run is as long as
CLEARLY = 8  # an unrolled run was too slow if staged code took an eighth less: what tiles cost drifts, too
LEAST = 1  # atoms of four tiles: with less on average, unrolled code is quicker anyway


@njit
def trial_begins(trial, tiles, atoms):
    for word in range(TRIAL):
        trial[word] = 0
    trial[RUN] = trial[RUN + 1] = SHORTEST
    trial[TILES] = max(1, PIECE * tiles // (tiles + atoms)) if tiles + atoms >= WORTH else tiles
    trial[BEGAN] = now()


@njit
def trial_tiles(trial):
    """Return how many tiles the next piece has."""
    return trial[TILES] * (trial[RUN + trial[STAGED]] if trial[TURN] == TURNS else 1)


@njit
def trial_stages(trial):
    return trial[STAGED] != 0


@njit
def trial_ends(trial, tiles, atoms, most):
    """Choose the way of the next piece, after one of so many tiles and atoms.

    most: with more atoms a tile, unrolled code is quicker.
    """
    ended, work, way = now(), tiles + atoms, trial[STAGED]
    took = 1000 * (ended - trial[BEGAN]) // max(work, 1)
    if trial[TURN] == TURNS:
        _run_ends(trial, way, 2 * took)
    elif work >= 4 * PIECE:  # one tile would speak for all
        if way:
            _anew(trial)  # more may follow, and unrolled code is quicker for these
    elif 4 * atoms < LEAST * tiles or atoms > most * tiles:
        trial[TURN], trial[TOOK], trial[TOOK + 1], trial[STAGED] = TURNS, 0, 0, 0
    else:
        trial[TOOK + way] += took
        trial[TURN] += 1
        if trial[TURN] < TURNS:
            trial[STAGED] = ORDER >> trial[TURN] & 1
        else:
            trial[STAGED] = 1 if trial[TOOK + 1] < trial[TOOK] else 0
    trial[BEGAN] = ended


@njit
def _run_ends(trial, way, took):
    """Go on with a trial, or with a staged run, if staged code was quicker in its trial than this unrolled run."""
    if way == 0 and 0 < CLEARLY * trial[TOOK + 1] < (CLEARLY - 1) * took:
        trial[RUN] = max(trial[RUN] // 2, SHORTEST)
        trial[RUN + 1] = min(2 * trial[RUN + 1], LONGEST)
        trial[STAGED] = 1
    else:
        trial[RUN + way] = min(2 * trial[RUN + way], LONGEST)
        _anew(trial)


@njit
def _anew(trial):
    """Begin a trial."""
    trial[TURN] = trial[TOOK] = trial[TOOK + 1] = trial[STAGED] = 0
