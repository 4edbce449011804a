"""Count how evenly schedules divide the work of a layout, for `plan.profile()`.

shares       counts the atoms of each group of threads, under any schedule
profile      makes a Balance from shares
balance      the numbers
sketch, pictures     the numbers as text and as a figure
"""
