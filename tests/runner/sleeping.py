"""A model whose module takes ten minutes to import, but for pytest, which looks for examples in it."""

from __future__ import annotations

import sys
import time

if "pytest" not in sys.modules:
    time.sleep(600.0)
