"""Answers: one file per question, the public Python API.

The only room where instruments meet: they are handed to each other as functions.
"""
