"""The texts of the program that a user can meet, collected from its source without running it.

:mod:`checks.texts.program` reads the source, :mod:`checks.texts.resolve` tells what an expression
can spell, and :mod:`checks.texts.sinks` knows where a text goes out: problems, errors, warnings.
"""
