"""Foreign formats, one file or folder each: how others write systems, models and measurements."""
