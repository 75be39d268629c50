"""Fixtures of the engines' tests."""

from __future__ import annotations

import pytest

from tests.native.compiled import use


@pytest.fixture
def compiled_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play messages by the C loops: the twins come to the same picosecond, in minutes."""
    use(monkeypatch, "messages")
