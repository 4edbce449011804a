"""Algorithms, written with the public interface that users have: one file each, in linalg/.

To add an algorithm, add one file. No target, schedule or layout knows any of them.
"""
