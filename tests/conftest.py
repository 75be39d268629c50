"""Shared by all tests: where the shared folder is, no silent skips in CI, Hypothesis in order.

``ARTERY_NO_SKIPS=1`` turns every skip into a failure, except for tests marked ``gpu``, which are
listed as not run. Files named ``*_shared.py`` need the shared folder (``ARTERY_SHARED``, or
``shared`` beside the repository) and are not collected where it is absent.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parent.parent
NO_SKIPS = os.environ.get("ARTERY_NO_SKIPS") == "1"
NOT_RUN: list[str] = []

# No deadline: a busy machine is no failure. Derandomised: the same commit gives the same verdict.
settings.register_profile("artery", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("artery")


def shared_folder() -> Path:
    """Return where the shared folder would be, whether it is there or not."""
    return Path(os.environ.get("ARTERY_SHARED") or ROOT.parent / "shared")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the shared folder."""
    return shared_folder()


@pytest.fixture(autouse=True)
def _plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test the same locale, width and colours, whoever runs it."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out what needs the shared folder where there is none."""
    needs_shared = collection_path.name.endswith("_shared.py")
    return True if needs_shared and not shared_folder().is_dir() else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where skips are not allowed."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        if item.get_closest_marker("gpu") is not None:
            NOT_RUN.append(item.nodeid)
        elif NO_SKIPS:
            _fail(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn a file that skips itself into a failure where skips are not allowed."""
    report = yield
    if report.skipped and NO_SKIPS:
        _fail(report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the tests that need a GPU and were not run."""
    for name in NOT_RUN:
        terminalreporter.write_line(f"not run (needs a GPU): {name}")


def _fail(report: pytest.TestReport | pytest.CollectReport) -> None:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    report.outcome = "failed"
    report.longrepr = f"skips are failures here (ARTERY_NO_SKIPS=1): {reason}"
