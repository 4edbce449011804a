"""Compare SpMV, products, functions on lists and graph algorithms with other libraries (`evenly bench`).

matrices     ten generated matrices, and those of a folder; families: those that are drawn
case         one matrix: its arrays, two sets of values, the reference
validation   SciPy's result in float64, and the bound of the rounding error of a correct one
contender    one way to multiply, ready to run; checked: those of a comparison, looked at before they are timed
ours         `auto`, and every schedule with a grid of parameters
peers        other libraries, one class each; cusparse: the C interface of cuSPARSE
hardwired    SpMV written by hand in CUDA C++ (hardwired.cu, hardwired_merge.cu), to measure what the abstraction costs
loops        a loop of a library's calls, one for each item of a batch
batched_atomics  two kernels for batches, by hand and with float atomics
gpu, cpu     a place to run: memory, clocks, rates
floors       the least time that a matrix can take; sectors: what it gathers, compiled
searches     searches of one graph; graph_references: what is right; gunrock: its programs
record       the rows of the CSV file
summary      geometric means by size of matrix; by_family: by families
plots        the figures

`cli/bench_run.py` runs these in order.
"""
