"""Algorithms, written as a user would write them: linalg/, one file each.

To add an algorithm is to add one file. Nothing below (targets, schedules, layouts)
knows of any of them.
"""
