"""A saved answer of ``plan``, read back so that it can be asked again."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, TextIO

from artery.core.plan import Plan
from artery.errors import ArteryError, InputError, Problem, Problems, UsageError
from artery.places import is_file

SCHEMA: Final = "artery.plan/1"

_LARGEST_FILE: Final = 64 * 2**20
"""Characters. Assumed: far beyond any answer; a larger file is some other file."""

_RENAMED: Final = {"sequence": "seq"}
"""Fields of a plan that ``plan`` takes under another name."""

_BESIDE: Final[Mapping[str, type]] = {
    "overrides": list,
    "network": str,
    "nccl": str,
    "offload": str,
    "tokens": float,
    "task": str,
}
"""What a request holds beside the plan, the model and the system, and of which kind."""

_KINDS: Final = {
    "bool": "true or false",
    "dict": "an object",
    "float": "a number",
    "int": "a whole number",
    "list": "a list",
    "str": "text",
}


@dataclass(frozen=True, slots=True)
class SavedPlan:
    """What was asked, and the best plan of the answer as keyword arguments of ``plan``.

    A file that describes a run may leave open which ``model`` it trains, and on which system.
    ``missing`` are the sizes that a model in it lacks; ``chips`` is how many it asks for;
    ``impossible`` says why it starts no run, and ``assumed`` what had to be added to it.
    """

    model: str | None
    on: str | None
    options: Mapping[str, Any]
    missing: tuple[str, ...] = ()
    chips: int | None = None
    impossible: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()

    def check_possible(self, path: str) -> None:
        """Raise ``InputError`` with all that is impossible in the file at ``path``."""
        if self.impossible:
            rule, fix = "a run must be able to start from it", f"artery read {path}"
            raise InputError(
                [Problem(file=path, found=one, rule=rule, fix=fix) for one in self.impossible]
            )

    def without_model(self, path: str, named: str) -> ArteryError:
        """Return what is wrong with the file at ``path``, whose model is not known.

        ``named`` is how a model is named instead, as it is typed.
        """
        if not self.missing:
            return UsageError(f"{path} does not say which model it trains: add {named}")
        rule = "the model in the script has no step without it"
        return InputError(
            [
                Problem(file=path, field=name, found="not said", rule=rule,
                        fix=f"add --{name.replace('_', '-')} to the script, or {named} here")
                for name in self.missing
            ]
        )  # fmt: skip


def read_plan(path: str) -> SavedPlan:
    """Return what the document at ``path`` (``-``: standard input) asked and found best.

    Of a launch script, or a configuration of a training framework, it returns what that says.

    Raises:
        InputError: no such file, no JSON, or no answer of ``artery plan --json``.
    """
    from artery.formats.waiting import kept, told

    with told(path), kept(path):
        return _run(path) or _saved(path)


def _saved(path: str) -> SavedPlan:
    """Return what a former answer was about."""
    document = _document(path)
    request = _entry(path, document, "request", dict)
    model = _entry(path, request, "model", str, "request.")
    on = _entry(path, request, "on", str, "request.")
    plans = _entry(path, document, "plans", list)
    if not plans or not isinstance(plans[0], dict):
        raise _problem(path, "plans", "an empty list", "must hold a plan", _FIX)
    chosen = _entry(path, plans[0], "parallelism", dict, "plans[0].")
    with Problems() as problems:
        options = {
            **_options(path, "request.", request, _BESIDE, problems),
            **_options(path, "plans[0].parallelism.", chosen, _FIELDS, problems),
        }
    return SavedPlan(model, on, {_RENAMED.get(name, name): v for name, v in options.items()})


def _run(path: str) -> SavedPlan | None:
    """Return what a foreign file says of a run; ``None`` if it is none of those that do."""
    from artery.formats.recognise import read, recognise
    from artery.formats.text import beginning
    from artery.formats.waiting import place_of

    if path == "-" or not is_file(place_of(path)):
        return None

    head = beginning(path)
    if SCHEMA in head.content or not {one.name for one in recognise(head)} & RUN_FORMATS:
        return None
    found = read(path)
    if found.workload is not None and place_of(path) != Path(path):
        rule = "the model in it is read once more, which a pipe does not give"
        raise _problem(path, None, "a script in a pipe", rule, "save it to a file first")
    given = {
        _RENAMED.get(name, name): tuple(value) if isinstance(value, list) else value
        for name, value in found.given.items()
    }
    lacking = found.fields.get("missing_facts", ()) if found.workload is None else ()
    missing = tuple(name for one in lacking if (name := str(one).partition(":")[0]) != "model")
    chips = found.fields.get("chips")
    return SavedPlan(
        path if found.workload is not None else None, None, given, missing,
        chips if isinstance(chips, int) else None,
        tuple(one.removeprefix(_IMPOSSIBLE) for one in found.warnings
              if one.startswith(_IMPOSSIBLE)),
        (_ASSUMED,) if found.format == "deepspeed-config" else (),
    )  # fmt: skip


_IMPOSSIBLE: Final = "impossible: "
"""How the formats begin what no run can be started from."""

_ASSUMED: Final = (
    "a DeepSpeed configuration names no release and no attention: deepspeed-2021 with eager "
    "attention was assumed; --framework and --attention say otherwise"
)


RUN_FORMATS: Final = frozenset({"megatron-args", "torchtitan-config", "deepspeed-config"})
"""Foreign formats that say how a job is split."""

_FIELDS: Final[Mapping[str, type]] = {
    field.name: list if field.name == "overlap" else type(field.default) for field in fields(Plan)
}
"""The fields of a plan and their kinds; the one field that may be empty is a list."""


def _options(
    path: str,
    above: str,
    table: Mapping[str, Any],
    kinds: Mapping[str, type],
    problems: Problems,
) -> dict[str, Any]:
    """Return the entries of ``table`` that are known and not null; note those of a wrong kind."""
    options = {}
    for name, kind in kinds.items():
        if table.get(name) is None:
            continue
        try:
            value = _entry(path, table, name, kind, above)
        except InputError as error:
            problems.absorb(error)
        else:
            options[name] = tuple(value) if isinstance(value, list) else value
    return options


_FIX: Final = "write one with `artery plan MODEL --on SYSTEM --json`"


def _document(path: str) -> dict[str, Any]:
    text = _text(path)
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        problem = Problem(
            file=path, line=error.lineno, column=error.colno, found=error.msg,
            rule="must be JSON", fix=_FIX,
        )  # fmt: skip
        raise InputError(problem) from None
    except (RecursionError, ValueError):  # brackets without end, a number of 4,300 digits
        endless = "brackets too deep or a number too long"
        raise _problem(path, None, endless, "must be a saved plan", _FIX) from None
    found = document.get("schema") if isinstance(document, dict) else type(document).__name__
    if found != SCHEMA:
        raise _problem(path, "schema", json.dumps(found), f'must be "{SCHEMA}"', _FIX)
    return dict(document)


def _text(path: str) -> str:
    try:
        if path == "-":
            return _limited(path, sys.stdin)
        from artery.formats.waiting import place_of

        with place_of(path).open(encoding="utf-8-sig") as stream:
            return _limited(path, stream)
    except OSError as error:
        found = error.strerror or str(error)
        raise _problem(path, None, found, "must be a file that can be read", _FIX) from None
    except UnicodeDecodeError:
        raise _problem(path, None, "not UTF-8 text", "must be JSON", _FIX) from None


def _limited(path: str, stream: TextIO) -> str:
    text = stream.read(_LARGEST_FILE + 1)  # not by its size: a device has none
    if len(text) > _LARGEST_FILE:
        raise _problem(path, None, "over 64 MiB", "must be a saved plan", _FIX)
    return text


def _entry(path: str, table: Mapping[str, Any], key: str, kind: type, above: str = "") -> Any:  # noqa: ANN401 (whatever kind says)
    value = table.get(key)
    if not isinstance(value, (int, float) if kind is float else kind) or (
        isinstance(value, bool) and kind is not bool
    ):
        found = "missing" if value is None else json.dumps(value)[:60]
        raise _problem(path, above + key, found, f"must be {_KINDS[kind.__name__]}", _FIX)
    return value


def _problem(path: str, field: str | None, found: str, rule: str, fix: str) -> InputError:
    return InputError(Problem(file=path, field=field, found=found, rule=rule, fix=fix))
