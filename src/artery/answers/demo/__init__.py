"""``demo``: a broken cluster, bundled as three files, found, proved and repaired in a minute.

The files were written from physics by hand (``docs_build/demo_files.py`` in the source tree), not
by the simulator that proves the cause, nor by the price that expects the healthy curve.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.resources import as_file, files
from importlib.util import find_spec
from typing import Any, Final

from artery.answers.diagnose import DiagnoseAnswer, diagnose

FILES: Final = ("nccl-tests.txt", "topo.txt", "ibnetdiscover.txt")
MODEL: Final = "qwen3-30b-a3b"
DEGREES: Final[Mapping[str, int]] = {"ep": 128}
"""The job of the story: a mixture of 128 experts, one a GPU, so that its all-to-all crosses the
network in every layer."""

_TRAINS: Final = "artery.answers.demo.train"
"""The module, if there is one, that trains for some seconds on this machine."""


@dataclass(frozen=True, slots=True)
class DemoAnswer:
    """The diagnosis of the bundled files, the text of each, and what training here showed.

    ``trained`` is ``None`` without torch.
    """

    diagnosis: DiagnoseAnswer
    texts: tuple[tuple[str, str], ...]
    trained: Mapping[str, Any] | None


def demo(*, train: bool = True, note: Callable[[str], None] = lambda _: None) -> DemoAnswer:
    """Return the whole story; ``train`` lets a short real run follow where torch is there.

    ``note`` hears that it begins, for it takes half a minute.
    """
    folder = files("artery.answers.demo").joinpath("files")
    texts = tuple((name, folder.joinpath(name).read_text("utf-8")) for name in FILES)
    with ExitStack() as stack:
        paths = [str(stack.enter_context(as_file(folder.joinpath(name)))) for name in FILES]
        found = diagnose(*paths, model=MODEL, degrees=DEGREES)
    answer = DemoAnswer(_named(found, dict(zip(paths, FILES, strict=True))), texts, None)
    return with_training(answer, note) if train else answer


def with_training(answer: DemoAnswer, note: Callable[[str], None] = lambda _: None) -> DemoAnswer:
    """Return the story with what a short real run here showed, where torch is there."""
    return replace(answer, trained=_trained(note))


def _trained(note: Callable[[str], None] = lambda _: None) -> Mapping[str, Any] | None:
    """Return what a short run on this machine showed, ``None`` where it cannot be."""
    if find_spec("torch") is None or find_spec(_TRAINS) is None:
        return None
    note("two processes train here for about half a minute; --no-train leaves that out")
    run: Callable[[Callable[[str], None]], Mapping[str, Any]] = import_module(_TRAINS).demo_train
    return run(note)


def _named(found: DiagnoseAnswer, names: Mapping[str, str]) -> DiagnoseAnswer:
    """Return the answer with the bundled files under their own names, not where they are kept."""

    def told(text: str) -> str:
        for path, name in names.items():
            text = text.replace(path, name)
        return text

    findings = tuple(
        replace(one, evidence=tuple(map(told, one.evidence)), against=tuple(map(told, one.against)))
        for one in found.diagnosis.findings
    )
    curve = found.diagnosis.curve
    judged = found.diagnosis.judged
    if curve is not None:
        curve = replace(curve, source=told(curve.source))
    if judged is not None and curve is not None:
        judged = replace(judged, curve=curve)
    return replace(
        found,
        diagnosis=replace(found.diagnosis, findings=findings, curve=curve, judged=judged),
        origins={name: told(path) for name, path in found.origins.items()},
        files=tuple((told(path), kind) for path, kind in found.files),
    )


def write_files(answer: DemoAnswer, folder: str, write: Callable[[str, str], None]) -> list[str]:
    """Write the bundled files into ``folder`` with ``write`` (path, text); return their paths."""
    paths = [f"{folder.rstrip('/')}/{name}" for name, _ in answer.texts]
    for path, (_, text) in zip(paths, answer.texts, strict=True):
        write(path, text)
    return paths
