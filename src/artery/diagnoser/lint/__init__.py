"""Rules over how jobs are started: what threads and samples show to go wrong again and again."""
