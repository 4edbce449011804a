"""`evenly bench`: SpMV against the other libraries that are installed, on generated and real matrices.

matrices     ten generated matrices, and those of a folder
case         one matrix: its arrays, two sets of values, what is right
validation   SciPy's result in float64 and the bound of a right one's error
contender    one way to multiply, ready to run
ours         `auto`, and every schedule with a grid of parameters
peers        other libraries, one class each; cusparse: the C interface of one of them
hardwired    SpMV by hand in CUDA C++ (hardwired.cu), to see what the abstraction costs
gpu, cpu     a place to run: memory, clocks, rates
floors       the least time that a matrix can take
record       the rows of the CSV file
summary      geometric means by size of matrix
plots        the figures

`cli/bench_run.py` does all of it, in order.
"""
