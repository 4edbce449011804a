"""Measure schedules on the user's own data, and remember the fastest.

tune                   times candidates on a plan's arguments, and on copies of its outputs
measuring              the budget, a look at each candidate, a race of those that may win
net                    `schedule="tuned"`: what is remembered, or else tune within bounds for a first call
tuned                  what was measured, and its report
key, winner, reading, winners, recall     what is remembered, its file, and the look-up by `auto`
locality               renumbers columns, so that those that are gathered most are adjacent
"""
