"""Random matrices by families: how long rows are, times where their columns lie.

    for member in families(seed=3):
        A = member.make()

shapes     the families: parameters that they draw; kinds: their numbers in compiled code
draws      random numbers at any position
lengths    row lengths, columns: columns; both compiled
member     one matrix
chosen     which ones a seed draws
"""

from .chosen import COLUMNS, LARGEST, LENGTHS, MOST, families
from .member import Member

__all__ = ["COLUMNS", "LARGEST", "LENGTHS", "MOST", "Member", "families"]
