"""What CI makes of the tests, in one process or two: no silent skips, no real runs side by side."""

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

FILE = """
import os
import time
import pytest

@pytest.fixture(autouse=True)
def begun(request):
    with open("begun", "a") as file:
        file.write(f"{os.getpid()} {request.path.stem}.{request.function.__name__}\\n")

def test_first():
    pass

def test_last():
    time.sleep(1)
"""

MARK = "@pytest.{}.real\n".format("mark")  # not spelt out: no real run stands in this file itself
REAL = FILE.replace("def test_last", f"{MARK}def test_last")

TWO = ("-n", "2")
"""Two processes."""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeconftest(CONFTEST.read_text(encoding="utf-8"))
    pytester.makeini("[pytest]\nmarkers =\n  gpu: needs a GPU\n  real: real runs")
    return pytester


@pytest.mark.parametrize("how", [(), TWO], ids=["one process", "two processes"])
def test_skips_fail_in_ci_except_those_that_need_a_gpu(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, how: tuple[str, ...]
) -> None:
    monkeypatch.setenv("ARTERY_NO_SKIPS", "1")
    project.makepyfile(test_here=TESTS)
    result = project.runpytest_subprocess(*how, "-ra")
    result.assert_outcomes(passed=1, failed=1, skipped=1, xfailed=1)
    result.stdout.fnmatch_lines(["*skips are failures here*no tool*", "not run*test_gpu"])
    result.stdout.fnmatch_lines(["FAILED test_here.py::test_tool*"])


def test_skips_are_skips_elsewhere(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARTERY_NO_SKIPS", raising=False)
    project.makepyfile(TESTS)
    project.runpytest_subprocess().assert_outcomes(passed=1, skipped=2, xfailed=1)


@pytest.mark.parametrize("how", [(), TWO], ids=["one process", "two processes"])
def test_a_file_that_skips_itself_fails_in_ci(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, how: tuple[str, ...]
) -> None:
    monkeypatch.setenv("ARTERY_NO_SKIPS", "1")
    project.makepyfile("import pytest\npytest.importorskip('no_such_module')")
    assert project.runpytest_subprocess(*how).parseoutcomes()["errors"] >= 1


def test_real_runs_follow_each_other_in_the_process_that_begins_with_them(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(test_a=FILE, test_b=REAL, test_c=REAL, test_d=FILE)
    project.runpytest_subprocess(*TWO).assert_outcomes(passed=8)
    begun: dict[str, list[str]] = {}
    for line in (project.path / "begun").read_text(encoding="utf-8").splitlines():
        process, test = line.split()
        begun.setdefault(process, []).append(test)
    real = next(tests for tests in begun.values() if "test_b.test_first" in tests)
    assert real[:4] == [f"test_{file}.test_{which}" for file in "bc" for which in ("first", "last")]
    # The others follow, file by file, in whichever process is free.
    for tests in begun.values():
        files = [test.partition(".")[0] for test in tests]
        assert files[::2] == files[1::2]


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
