"""How many threads lie along a dense axis, and how many columns each of them has: the rule of `auto` on a GPU.

Found by hand on an H100 (benchmarks/notes/dense-axes.md, "Every width").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenly.gpus.gpu import REGISTER, WARP, WORD
from evenly.schedules.contract import MOST_VECTOR, ceil_div

from .powers import power_from
from .statistics import Statistics

if TYPE_CHECKING:
    from .dense import Axis


def columns(st: Statistics, axis: Axis, held: dict[str, Any]) -> tuple[int, int]:
    """Return the threads along an axis, and the columns of each. held: the numbers of the GPU for dense axes."""
    n, word = axis.length, word_of(axis)
    if not axis.adjacent:
        return 1, min(n, held["apart"])
    short, alike = st.mean < held["short"], st.greatest <= held["longest"] * st.mean
    if n % 2 and n % word:
        long = st.mean >= held["long"] and alike
        each = _single_columns(n, axis, held, short, long, alike)
        lanes = min(power_from(ceil_div(n, each)), WARP)
        vector = ceil_div(n, lanes * ceil_div(n, lanes * held["singles"]))
        return lanes, vector | axis.moves  # what is not added up is tested one by one
    if n % word:  # words of two columns, an odd number of them a thread, or a word would have four
        able = (3,) if axis.inside and n > 16 else (1, 3, 5) if short and n > 2 * WARP else (1, 3)
        lanes, each = _odd_words(n // 2, able)
        return lanes, 2 * each
    words = n // word
    if axis.moves:  # a row in the fewest rounds
        most = held["moved"] // max(axis.width, REGISTER)
        return min(power_from(words), WARP), word * ceil_div(words, WARP * ceil_div(n, WARP * most))
    if axis.both:  # one round, if a warp is enough
        return min(power_from(words), WARP), word
    if not axis.inside:
        lanes, each = _words(st, words, word, held, short)
    elif short or not alike or words <= held["reduce"]:
        # Threads that reduce take steps, so that they are few.
        lanes, each = min(power_from(words), held["reduce"]), 1
    else:  # long tiles take an axis in one round
        each = max(2, min(ceil_div(words, WARP), 4, MOST_VECTOR // word))
        lanes = min(power_from(ceil_div(words, each)), WARP)
    return lanes, each * word


def word_of(axis: Axis) -> int:
    """Return how many columns 16 bytes hold."""
    return max(WORD // axis.width, 1)


def _words(
    st: Statistics, words: int, word: int, held: dict[str, Any], short: bool
) -> tuple[int, int]:
    """Return the threads along an axis of so many words around a pass, and the words of each.

    word: columns of one.
    """
    if short:  # many tiles at a time, rather than a long one
        most = held["reduce"] if words <= WARP else 2 * held["reduce"]
    else:
        most = WARP
    # A word each, so that a warp's loads are of whole sectors; two, if there are many and tiles are long. The fewest
    # threads without a column; walking the atoms once more costs as much as two words.
    each = 2 if st.mean >= held["long"] and words >= WARP else 1
    able = [1 << i for i in range(6) if 1 << i <= most]
    lanes = min(able, key=lambda k: ceil_div(words, k * each) * (k + 2))
    many = words > 2 * lanes * each and (words <= 3 * held["reduce"] or not short)
    limit = MOST_VECTOR // word  # words of a thread: two of numbers of one byte
    if many and limit >= 3 and (words % lanes or lanes < held["reduce"]):
        # Rather than many rounds that leave threads idle, or take short pieces of rows.
        return _odd_words(words, (3,), (limit - 1) | 1)
    return lanes, each


def _odd_words(words: int, able: tuple[int, ...], most: int = 5) -> tuple[int, int]:
    """Return threads, and words of each, one of these numbers: so that the fewest are not on the axis."""
    each = (
        min(able, key=lambda k: power_from(ceil_div(words, k)) * k)
        if words <= 3 * WARP
        else min(5, most)
    )
    return min(power_from(ceil_div(words, each)), WARP), each


def _single_columns(
    n: int, axis: Axis, held: dict[str, Any], short: bool, long: bool, alike: bool
) -> int:
    """Return how many columns a thread should have if none are words.

    The rows of several atoms are loaded by one instruction. In long tiles those are often adjacent rows, of few columns
    each if a thread has many.
    """
    wide, most = n > held["wide"], held["singles"]
    if short:
        return int(most) if wide and not axis.inside else 5
    if long and axis.inside:
        if axis.width == 4:  # five: twice as many atoms at once
            return 5 if 4 * most < n <= held["fives"] else int(most)
        return 5 if wide or n <= 20 else 3
    if long:
        many, few = ceil_div(4 * most, axis.width), 5 if wide else ceil_div(20, axis.width)
        return many if n <= 2 * many or (axis.width == 4 and WARP < n <= 8 * many) else few
    return 5 if wide else 3 if n > held["reduce"] or not alike else 1
