"""A model whose module takes ten minutes to import, except for pytest, which seeks examples."""

from __future__ import annotations

import sys
import time

if "pytest" not in sys.modules:
    time.sleep(600.0)
