"""The diagnoser: measured against expected, and causes that compete on numbers.

What should be is handed in as a function, so that this room needs neither a network nor a library.
"""
