"""The numbers by which compiled code knows a family."""

EQUAL, NORMAL, GEOMETRIC, LOG_NORMAL, PARETO, BIMODAL, MOSTLY_EMPTY = range(7)  # row lengths
SCATTERED, CLUSTERED, DESCENDING = range(3)  # the order of rows
SCATTER, RUNS, SHARED, POWER_LAW, SHUFFLED = range(5)  # columns
