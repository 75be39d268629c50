"""The written result of the speed law is what the published tables give now."""

from __future__ import annotations

from pathlib import Path

import pytest

from accuracy.speed import kept, scores


def test_the_result_on_disk_is_the_result_now(shared: Path) -> None:
    for old, new in zip(kept(), scores(shared / "traces"), strict=True):
        assert (old.cluster, old.job, old.test_rows) == (new.cluster, new.job, new.test_rows)
        assert (old.fitted, old.test, old.far) == pytest.approx(
            (new.fitted, new.test, new.far), abs=0.003
        )
