"""Answers: one file or room per question, the public Python API.

The only room where instruments meet: they are handed to each other as functions. The door of a
room (``diagnose/__init__.py``) answers the question; its parts stand beside it, each saying in its
first line what it is for.
"""
