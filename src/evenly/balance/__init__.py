"""Count how evenly schedules divide the work of a layout, for `plan.profile()`, and show it, for `plan.trace()`.

shares       counts the atoms of each group of threads, under any schedule
profile      makes a Balance from shares
items        those of a batch, in loops over items
courses, courses_shown    a TaskBalance, of how tasks would run; as text and as a figure
balance      the numbers
sketch, pictures     the numbers as text and as a figure; shown: how both kinds of balance are drawn
steps        who takes each atom, and when
trace        that as a file
"""
