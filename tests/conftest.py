"""Shared by all tests: where the shared folder is, no silent skips in CI, Hypothesis in order.

``ARTERY_NO_SKIPS=1`` turns every skip into a failure, except for tests marked ``gpu``, which are
listed as not run. Where several processes share the tests (``pytest -n 2``), those of one file stay
together, and those of all files with real runs follow each other in one process, which begins with
them: no real run meets another. Files named ``test_*_shared.py`` need the shared folder
(``ARTERY_SHARED``, or ``shared`` beside the repository) and are not collected where it is absent.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

ROOT = Path(__file__).parent.parent
NO_SKIPS = os.environ.get("ARTERY_NO_SKIPS") == "1"

# A shell without job control starts what runs in the background deaf to Ctrl-C, and programs that
# the tests start and interrupt would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

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


@cache
def _company(file: Path) -> str:
    """Return what the tests of a file stay together with: each other, or all real runs."""
    return "real" if "mark.real" in file.read_text(encoding="utf-8") else str(file)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with real runs, which take longest, where several processes share the tests."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: _company(item.path) != "real")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Return what hands out whole files, and all files with real runs to one process."""
    from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

    class Companies(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return _company(config.rootpath / nodeid.partition("::")[0])

    config.option.loadscopereorder = False
    return Companies(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where skips are not allowed."""
    report = yield
    skips = report.skipped and not hasattr(report, "wasxfail")
    if NO_SKIPS and skips and item.get_closest_marker("gpu") is None:
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
    for report in terminalreporter.getreports("skipped"):
        if "gpu" in report.keywords:
            terminalreporter.write_line(f"not run (needs a GPU): {report.nodeid}")


def _fail(report: pytest.TestReport | pytest.CollectReport) -> None:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    report.outcome = "failed"
    report.longrepr = f"skips are failures here (ARTERY_NO_SKIPS=1): {reason}"
