"""Measure schedules on the user's own data, and remember the fastest.

tune                   times candidates on a plan's arguments, and on copies of its outputs
tuned                  what was measured, and its report
key, winner, reading, winners, recall     what is remembered, its file, and the look-up by `auto`
locality               renumbers columns, so that those that are gathered most are adjacent
"""
