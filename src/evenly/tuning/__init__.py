"""Schedules that are measured on the user's own data, and remembered.

tune, copies           candidates are timed on a plan's arguments, and on copies of its outputs
tuned                  what was measured, and its report
key, winner, reading, winners, recall     what is remembered, its file, and how `auto` asks for it
locality               columns numbered anew, so that what is gathered most lies together
"""
