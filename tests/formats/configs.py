"""All the small configurations whose weights are counted by hand."""

from __future__ import annotations

from tests.formats.decoders import DECODERS, Config
from tests.formats.others import OTHERS
from tests.formats.vision import SEEING

COUNTED: dict[str, tuple[Config, int]] = {**DECODERS, **OTHERS, **SEEING}
