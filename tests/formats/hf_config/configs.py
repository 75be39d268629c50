"""All the small configurations whose weights are counted by hand."""

from __future__ import annotations

from tests.formats.hf_config.decoders import DECODERS, Config
from tests.formats.hf_config.others import OTHERS
from tests.formats.hf_config.vision import SEEING

COUNTED: dict[str, tuple[Config, int]] = {**DECODERS, **OTHERS, **SEEING}
