"""Sort each list, stably.

On a GPU by the lengths of lists (bins.py): short ones by a thread each (threads.py); longer ones in the registers and
the shared memory of a team (blocks.py); what does not fit there in parts, which are then merged (passes.py). On a
CPU short ones by counting, longer ones by their digits (on_host.py). Elsewhere, and under a schedule that is given,
element by element (merged.py).
"""

from .segment_sort import segment_sort

__all__ = ["segment_sort"]
