"""What arguments are called in emitted code."""

from __future__ import annotations

from evenly.language import ir
from evenly.language.lower.context import CPP

# What emitted code has names for itself: of variables, and of the members that the engines ask for.
_NAMES = """
    Asked Grid Phase State Value acc all_blocks all_lanes ask asked atoms begin bin_warps bound cells chunks
    chunks_taken combine count each end enter first first_tile follow found grid grid_combine grid_identity
    grid_partials grid_value has_effects has_grid has_leave has_value head_tile head_value identity lane
    leave live main_blocks needs_tile num_atoms num_tiles out_tile out_value part phase pos sched setup start
    state step stop team then thread_count thread_index tile tile_bins tile_value tiles totals use value whole
"""
OURS = frozenset(_NAMES.split())


def apart(name: str) -> str:
    """A variable of the user's beside names of ours."""
    return f"{name}_given" if name in OURS else name


def flat(path: ir.Path) -> str:
    """The name of an argument, of a field of one, or of a workspace array ("$", name)."""
    name = "_".join(x for x in path if x != "$")
    return f"{name}_given" if name in CPP else apart(name)
