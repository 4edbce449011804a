"""Algorithms, written with the public interface that users have: a folder for each field, a file for each algorithm.

    linalg   sparse matrices times vectors and matrices; attention
    graph    searches, shortest paths, centralities, components, colourings
    ragged   lists of unequal length
    arrays   sort, sum, group, select

To add one, write a file that imports `evenly` alone (and `evenly.kit`). No target, schedule or layout knows one.
"""
