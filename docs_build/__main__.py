"""Writes the pages named on the command line, or all of them."""

import sys

from docs_build import PAGES, ROOT, text

for page in sys.argv[1:] or PAGES:
    if page not in PAGES:
        sys.exit(f"{page}: no such page; known: {', '.join(PAGES)}")
    (ROOT / page).write_text(text(page), encoding="utf-8")
    print(page)
