"""PageRank by power iteration: each round a vertex collects the rank of those that have an edge to it.

Source: Page, Brin, Motwani, Winograd, "The PageRank Citation Ranking" (1999).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

FINE, WEIGHTS, SUMS, PERSONAL, DANGLING, START, ROUNDS = range(7)  # what the kernel reports
NAMES = {PERSONAL: "personalization", DANGLING: "dangling", START: "start"}


@ev.func
def entry(x, v, default):
    """x[v], or the default if there is no x."""
    if x is None:
        return default
    return x[v]


@ev.func
def unfit(w):
    """Whether a number cannot be a weight: negative, infinite or NaN."""
    return not (w >= 0 and w < math.inf)


@ev.func
def share(x, v, total, default):
    """Entry v of a vector that is scaled to the sum 1."""
    if x is None:
        return default
    return x[v] / total


@ev.func
def wrong_sum(x, total):
    """Whether the sum of a vector, if there is one, cannot be scaled to 1."""
    if x is None:
        return False
    return not (total > 0 and total < math.inf)


@ev.kernel
def iterate(
    G, R, V, weighted, personal, dangling, start, rank, sent, here, per_weight, report, damping, tolerance, most
):  # fmt: skip
    """rank[v], where R has the edges of G turned around. sent[u]: what u gives for each unit of weight.

    here[v]: what v gets in a round.
    """
    n = len(rank)
    unfit_weight, unfit_sum = False, False
    for u in G.tiles():
        total = 0.0
        for e in G.atoms(u):
            w = 1.0 if weighted is None else float(G.value(e))
            total += w
            unfit_weight = unfit_weight or unfit(w)
        per_weight[u] = 1 / total if total > 0 else 0.0
        one = np.float64(per_weight[u]) * total if total > 0 else 1.0
        unfit_sum = unfit_sum or not (one > 0.99 and one < 1.01)  # beyond the range of floats
    personal_sum, dangling_sum, start_sum = 0.0, 0.0, 0.0
    unfit_personal, unfit_dangling, unfit_start = False, False, False
    for v in V.tiles():
        personal_sum += entry(personal, v, 1.0)
        dangling_sum += entry(dangling, v, 1.0)
        start_sum += entry(start, v, 1.0)
        unfit_personal = unfit_personal or unfit(entry(personal, v, 1.0))
        unfit_dangling = unfit_dangling or unfit(entry(dangling, v, 1.0))
        unfit_start = unfit_start or unfit(entry(start, v, 1.0))
    for v in V.tiles():
        rank[v] = share(start, v, start_sum, 1 / n)
    found = ROUNDS
    if unfit_weight:
        found = WEIGHTS
    elif unfit_sum:
        found = SUMS
    elif unfit_personal or wrong_sum(personal, personal_sum):
        found = PERSONAL
    elif unfit_dangling or wrong_sum(dangling, dangling_sum):
        found = DANGLING
    elif unfit_start or wrong_sum(start, start_sum):
        found = START
    kept = 0.0  # the rank of vertices without edges
    for u in V.tiles():
        sent[u] = rank[u] * per_weight[u]
        kept += rank[u] if per_weight[u] == 0 else 0.0
    rounds = 0
    while found == ROUNDS and rounds < most:
        rounds += 1
        for v in R.tiles():  # nothing but a product of a matrix and a vector
            if weighted is None:
                here[v] = sum(sent[R.column(e)] for e in R.atoms(v))
            else:
                here[v] = sum(R.value(e) * sent[R.column(e)] for e in R.atoms(v))
        change, lost = 0.0, 0.0
        for v in V.tiles():
            home = share(personal, v, personal_sum, 1 / n)
            jump = home if dangling is None else share(dangling, v, dangling_sum, 1 / n)
            new = damping * (here[v] + kept * jump) + (1 - damping) * home
            change += abs(new - rank[v])
            rank[v] = new
            sent[v] = new * per_weight[v]
            lost += new if per_weight[v] == 0 else 0.0
        kept = lost
        if change < n * tolerance:
            found = FINE
    report[0] = found


def pagerank(
    G: Any,
    *,
    damping: float = 0.85,
    weighted: bool = True,
    personalization: Any = None,
    dangling: Any = None,
    start: Any = None,
    tolerance: float = 1e-6,
    max_rounds: int = 100,
    csc: Any = None,
    schedule: Any = "auto",
    target: str = "auto",
) -> Any:
    """PageRank: the chance of each vertex in the long run of a random walk along edges, (n,).

    With the chance 1 - `damping` a step goes to a vertex that `personalization` draws, else along an edge, drawn by
    weight. The sum is 1. The result is float32 for weights of float32 and of up to 16 bits, else float64.

    G: (n, n), a sparse matrix of SciPy, CuPy or PyTorch, or a layout of `ev.csr`, `ev.csc` or `ev.coo`. The result is
      of the same library, on the same device; NumPy's for a tensor in host memory.
    weighted: whether the values of G are the weights, not negative. False: every stored entry has the weight 1.
    personalization: (n,), not negative, scaled to the sum 1. Default: all vertices are alike.
    dangling: (n,), where a vertex goes whose edges have no weight. Default: `personalization`.
    start: (n,), the first guess. Default: all vertices are alike.
    tolerance, max_rounds: it ends when a round changes the ranks by less than n * tolerance in all.
    csc: G as `ev.csc` makes it, since ranks are collected along the edges that arrive. Default: made at each call. Of a
      symmetric G it is `G.transpose()`, which costs nothing.
    schedule, target: as of `ev.spmv`.

    The same arguments give the same bits on every run. On a GPU the rounds are one launch, and the call waits.
    Raises InputError for weights that are negative or not finite, if `max_rounds` are not enough, and if lengths or
    devices do not match.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> G = scipy.sparse.csr_array(np.array([[0, 1, 1], [0, 0, 1], [1, 0, 0]]))
    >>> ev.graph.pagerank(G).round(3)
    array([0.388, 0.215, 0.397])
    """
    G = kit.as_graph(G)
    n = G.num_tiles
    damping = _number(damping, "damping", "a number in 0..1", 1)
    tolerance = _number(tolerance, "tolerance", "a number, 0 or more", math.inf)
    made = kit.float_type(G) if weighted else np.dtype(np.float64)
    rank, sent, here, per_weight = (kit.empty(G.offsets, (n,), made) for _ in range(4))
    given = {"personalization": personalization, "dangling": dangling, "start": start}
    vectors = [
        None if x is None else kit.vectors(x, rank, "G", name)[0] for name, x in given.items()
    ]
    for x, name in zip(vectors, given, strict=True):
        if x is not None and kit.dtype(x).kind == "c":
            raise ev.InputError(name, expected="real numbers", given=f"dtype {kit.dtype(x)}")
    if n == 0:
        return rank
    report = kit.empty(rank, (1,), np.int32)
    R = kit.as_reverse(G, csc)
    numbers = damping, tolerance, kit.count_of(max_rounds, "max_rounds")
    iterate[schedule].on(target)(
        G, R, kit.each(n), 1 if weighted else None, *vectors, rank, sent, here, per_weight, report, *numbers
    )  # fmt: skip
    found = kit.entry(report, 0)
    if found == ROUNDS:
        expected = f"enough rounds for tolerance={tolerance}"
        raise ev.InputError("max_rounds", expected=expected, given=str(max_rounds))
    if found == WEIGHTS:
        hint = "weighted=False ignores them"
        raise ev.InputError("G", expected="finite weights, 0 or more", given="others", hint=hint)
    if found == SUMS:
        expected = f"weights whose sums at each vertex are in the range of {made}"
        raise ev.InputError("G", expected=expected, given="others", hint="scale them")
    if found != FINE:
        expected = "finite numbers, 0 or more, not all of them 0"
        raise ev.InputError(NAMES[found], expected=expected, given="others")
    return rank


def _number(given: Any, name: str, expected: str, most: float) -> float:
    try:
        found = float(given)
    except (TypeError, ValueError):
        found = math.nan
    if not 0 <= found <= most:
        raise ev.InputError(name, expected=expected, given=str(given))
    return found
