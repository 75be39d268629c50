"""What artery itself writes, read again: measurements and phases of a run."""
