"""Frameworks of training: how a run is configured, and what its log tells."""
