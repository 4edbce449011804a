"""How evenly schedules divide the work of a layout: `plan.profile()`.

shares       the atoms of each group of threads, under any schedule
profile      from shares to a Balance
balance      the numbers
sketch, pictures     the numbers as text and as a figure
"""
