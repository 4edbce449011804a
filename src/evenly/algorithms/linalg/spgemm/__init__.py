"""SpGEMM, C = A B for sparse A and B: count the nonzeros of each row of C, then fill the rows in, in order.

Four ways, by how many products a row has:

- Few nonzeros of A (merged.py): a thread merges the rows of B.
- Few products (buckets.py): they are numbered in the order of the row of A, and so are the atoms of a tile. Their
  columns are sorted by buckets in scratch memory. Equal ones are then side by side, in the order of their products,
  and are added up so.
- Many products (windows.py): the row is cut into windows of columns. Each has sums in scratch memory, to which its
  owner adds the rows of B one after the other. The columns of a row of B differ, so its threads do not meet.
- On the CPU (parts.py): rows are made one after the other in sums for all columns, and bit maps tell which they have.

So products of one place are added up in one order, without atomics on floats, whoever owns a row.
Sources: Gustavson (1978); rows in bins by their products: Nagasaka, Nukada, Matsuoka (ICPP 2017); products as atoms:
Dalton, Olson, Bell (ACM TOMS 2015).
"""

from .spgemm import spgemm

__all__ = ["spgemm"]
