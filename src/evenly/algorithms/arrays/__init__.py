"""Work on whole arrays: sort, sum, group, select."""

from evenly.algorithms.arrays.compact import compact
from evenly.algorithms.arrays.group_by import group_by
from evenly.algorithms.arrays.index_add import index_add
from evenly.algorithms.arrays.prefix_sum import prefix_sum
from evenly.algorithms.arrays.sort_by_key import sort_by_key
from evenly.algorithms.arrays.unique import unique

__all__ = ["compact", "group_by", "index_add", "prefix_sum", "sort_by_key", "unique"]
