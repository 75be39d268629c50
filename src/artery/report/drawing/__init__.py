"""How a result is drawn: onto the terminal, in small tables, in bars."""
