"""The folder of a run: taken by one supervisor at a time, gone on from only by the same run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from artery.errors import InputError, Problem, Problems
from artery.places import is_folder, is_there
from artery.runner.checkpoint.folder import Folder
from artery.runner.settings import Settings
from artery.runner.supervisor.lifeline import LOCK, locked


@contextmanager
def taken(run: Path, settings: Settings) -> Iterator[None]:
    """Hold the folder ``run`` for ``settings``; inside, nobody else may.

    Raises:
        InputError: another run is in it, or its checkpoints are another run's.
    """
    try:
        run.mkdir(parents=True, exist_ok=True)
        lock = (run / LOCK).open("w")
    except OSError as error:
        found, rule = error.strerror or str(error), "a run needs a folder that it may write to"
        raise _wrong(run, found, rule, "name another with --dir") from error
    with lock:
        if not locked(lock.fileno()):
            raise _wrong(
                run, "another run is using it", "one run, one folder", "wait, or use --dir"
            )
        check(run, settings)
        shutil.rmtree(run / "faults", ignore_errors=True)
        yield


def check(run: Path, settings: Settings) -> None:
    """Raise ``InputError`` unless ``settings`` may go on from what is in ``run``."""
    folder = Folder(run / "checkpoints")
    wanted = settings.identity()
    with Problems() as problems:
        for problem in _in_the_way(run):
            problems.add(problem)
        for step in folder.newest():
            place = run / "checkpoints" / f"step-{step:08d}" / "manifest.json"
            try:
                held = json.loads(place.read_text("utf-8"))["run"]
            except (OSError, ValueError, KeyError, TypeError):
                continue  # torn: whoever loads it says so
            if not isinstance(held, dict):
                continue
            if step > settings.steps:
                found = f"{settings.steps}, and the newest checkpoint is of step {step}"
                rule = "a run does not go back"
                fix = f"ask for {step} or more, or name another --dir"
                problems.add(
                    Problem(file=str(run), field="--steps", found=found, rule=rule, fix=fix)
                )
            for name in sorted(held.keys() | wanted.keys()):
                if held.get(name) != wanted.get(name):
                    found = f"{name} was {held.get(name)}, now it is {wanted.get(name)}"
                    rule = f"a run goes on as it began (checkpoint of step {step})"
                    fix = "ask for the same, or name another --dir"
                    problems.add(
                        Problem(file=str(run), field=name, found=found, rule=rule, fix=fix)
                    )
            break


def _in_the_way(run: Path) -> Iterator[Problem]:
    """Yield what stands where the run's own files and folders have to be."""
    fix = "move it away, or name another --dir"
    place = run / "checkpoints"
    if is_there(place) and not is_folder(place):
        rule = "checkpoints need a folder of that name"
        yield Problem(file=str(place), found="is a file", rule=rule, fix=fix)
    for name in ("phases.jsonl", "recovery.jsonl", "settings.json"):
        if is_folder(run / name):
            rule = "the run writes a file of that name"
            yield Problem(file=str(run / name), found="is a folder", rule=rule, fix=fix)


def described(run: Path, settings: Settings) -> None:
    """Write ``settings`` where processes that start from nothing read them."""
    try:
        run.mkdir(parents=True, exist_ok=True)
        (run / "settings.json").write_text(json.dumps(settings.document(), indent=1), "utf-8")
    except OSError as error:
        found, rule = error.strerror or str(error), "a run needs a folder that it may write to"
        raise _wrong(run, found, rule, "make room, or name another with --dir") from error


def _wrong(run: Path, found: str, rule: str, fix: str) -> InputError:
    return InputError(Problem(file=str(run), found=found, rule=rule, fix=fix))
