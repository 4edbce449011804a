# One kernel, every schedule: the same result, another division of the work.
import numpy as np

import evenly as ev


@ev.kernel
def spmv(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


lengths = [3, 1, 0, 5, 2, 40, 0, 1, 4, 1, 3, 2]
offsets = np.concatenate([[0], np.cumsum(lengths)])
columns = np.concatenate([np.arange(n) for n in lengths])
A = ev.csr((np.ones(len(columns)), columns, offsets), shape=(len(lengths), 40))
x, y = np.arange(40.0), np.empty(len(lengths))

for name in "thread_mapped", "group_mapped", "work_oriented", "merge_path":
    plan = spmv.plan(A, x, y, schedule=name, target="python")
    plan(A, x, y)
    work = plan.schedule.partition(A, 4).work()
    print(f"{name:14} sum {y.sum():.0f}; atoms of four processors: {work}")
