"""How a result is written: whole files, JSON documents, rows as CSV."""
