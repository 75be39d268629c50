"""Cablings, from whatever file describes one, and written for other tools."""
