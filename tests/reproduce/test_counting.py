"""Lines of code, as the paper's Table 1 counts them."""

from __future__ import annotations

from evenly.reproduce.load_balancing import counting
from evenly.reproduce.load_balancing.counting import Lines, of_cuda, of_python
from evenly.schedules import TABLE, MergePath, ThreadMapped

PYTHON = '''"""A docstring
of two lines."""

import os  # a comment behind code


# a comment
def f(
    x,
):
    """Another."""
    text = """a string
    of two lines"""
    return x
'''

CUDA = """// a comment
/* one
   of two lines */ int x;

int f() {  // behind code
  return x;
}
"""


def test_blank_lines_and_comments_are_none():
    assert of_python(PYTHON) == 7
    assert of_cuda(CUDA) == 4
    assert of_python("") == of_cuda("") == 0


def test_a_schedule_counts_with_what_it_builds_on():
    alone = of_python("from x import y\n\n\n@y\nclass Z:\n    '''Doc.'''\n\n    a: int = 1\n")
    assert alone == 4
    assert counting.of_schedule(MergePath()) > counting.of_schedule(ThreadMapped()) > 5


def test_table_1_has_every_schedule(site):
    rows = [row for some in counting.counted(site) for row in some]
    assert [row.schedule for row in rows] == [entry.make.__name__ for entry in TABLE.values()]
    assert {row.kernel for row in rows} == {4}  # @ev.kernel, def, for, the sum
    hand = {row.schedule: row.by_hand for row in rows if row.by_hand}
    assert set(hand) == {"ThreadMapped", "WarpMapped", "MergePath"}
    assert 4 < hand["ThreadMapped"] < hand["WarpMapped"] < hand["MergePath"]
    theirs = {row.theirs: row.their_kernel for row in rows if row.theirs}
    assert theirs == {"thread-mapped": 21, "group-mapped": 28, "merge-path": 39}
    assert not any(row.wrong for row in rows)


def test_its_lines():
    lines = list(counting.lines([Lines("A", 4, 20, 23, "thread-mapped", 21), Lines("B", 4, 30)]))
    assert lines == [("A", "4", "20", "23", "21 (thread-mapped)"), ("B", "4", "30", "-", "-")]
    assert min(counting.shared()) > 100
