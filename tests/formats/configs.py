"""All the small configurations whose weights are counted by hand."""

from __future__ import annotations

from tests.formats.decoders import DECODERS, Config
from tests.formats.others import OTHERS

COUNTED: dict[str, tuple[Config, int]] = {**DECODERS, **OTHERS}
