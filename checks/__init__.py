"""Checks that no ready tool does: sizes of files and functions, and the frozen list of flags."""
