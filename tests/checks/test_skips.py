"""No silent skips: what CI makes of tests that skip, and of files that need the shared folder."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

CONFTEST = Path(__file__).parent.parent / "conftest.py"

TESTS = """
import pytest

@pytest.mark.gpu
def test_gpu():
    pytest.skip("no GPU")

def test_tool():
    pytest.skip("no tool")

def test_fine():
    pass

@pytest.mark.xfail(reason="known")
def test_known():
    assert False
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeconftest(CONFTEST.read_text(encoding="utf-8"))
    pytester.makeini("[pytest]\nmarkers = gpu: needs a GPU")
    return pytester


def test_skips_fail_in_ci_except_those_that_need_a_gpu(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARTERY_NO_SKIPS", "1")
    project.makepyfile(TESTS)
    result = project.runpytest_subprocess()
    result.assert_outcomes(passed=1, failed=1, skipped=1, xfailed=1)
    result.stdout.fnmatch_lines(["*skips are failures here*no tool*", "not run*test_gpu"])


def test_skips_are_skips_elsewhere(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARTERY_NO_SKIPS", raising=False)
    project.makepyfile(TESTS)
    project.runpytest_subprocess().assert_outcomes(passed=1, skipped=2, xfailed=1)


def test_a_file_that_skips_itself_fails_in_ci(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARTERY_NO_SKIPS", "1")
    project.makepyfile("import pytest\npytest.importorskip('no_such_module')")
    project.runpytest_subprocess().assert_outcomes(errors=1)


@pytest.mark.parametrize(("present", "count"), [(True, 1), (False, 0)])
def test_what_needs_the_shared_folder_is_collected_only_with_it(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, present: bool, count: int
) -> None:
    folder = project.path / "elsewhere"
    if present:
        folder.mkdir()
    monkeypatch.setenv("ARTERY_SHARED", str(folder))
    project.makepyfile(test_cases_shared="def test_there(shared): assert shared.is_dir()")
    project.runpytest_subprocess().assert_outcomes(passed=count)
