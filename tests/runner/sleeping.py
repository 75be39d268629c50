"""A model whose module takes a minute to import."""

from __future__ import annotations

import time

time.sleep(60.0)
