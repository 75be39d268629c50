"""Grammars and numbers of files from strangers, with limits on size and depth."""
