"""Renderers of results: terminal, JSON, trace. No physics.

One file or room per question, as in :mod:`artery.answers`. In a room the door draws the page,
``payload`` makes the document where it is long, and ``words`` has the page's words in both
languages; ``said`` has the sentences that come from below.
"""
