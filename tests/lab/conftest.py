"""Every test of a real lab is watched: it leaves nothing behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.lab.remains import nothing_remains


@pytest.fixture(autouse=True)
def _watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with nothing_remains(tmp_path_factory.mktemp("temporary")):
        yield
