"""A model whose module takes ten minutes to import."""

from __future__ import annotations

import time

time.sleep(600.0)
