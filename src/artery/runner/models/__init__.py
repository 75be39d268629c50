"""Models to train: residual networks, a small transformer, and any factory of the user's."""
