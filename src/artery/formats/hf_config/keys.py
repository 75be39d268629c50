"""Reads the values of a configuration by any of their names and notes every problem on the way.

A reader asks for what it needs; what is missing or wrong is noted and a harmless 1 returned, so
that one run finds everything. Nothing is built before :meth:`Keys.check` has passed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NoReturn

from artery.errors import InputError, Problem
from artery.formats.hf_config.document import Document, Path_

LARGEST = 10**9
"""No extent of a model comes near this; a larger one is a typing error."""

DEEPEST_MODEL = 100_000
"""Layers; likewise."""

_SHAPE_LIKE = re.compile(
    r"(^|_)(n|num|dim|dims|size|sizes|rank|layers|heads|experts|width|kernel|depth|hidden)(_|$)"
)

_HARMLESS = frozenset(
    {
        "attention_chunk_size",
        "bos_token_id",
        "chunk_size",
        "chunk_size_feed_forward",
        "context_window_size",
        "encoder_no_repeat_ngram_size",
        "eos_token_id",
        "ep_size",
        "hidden_act",
        "initial_context_length",
        "max_batch_size",
        "rotary_dim",
        "pooler_output_size",
        "dim_model_base",
        "num_mtp_modules",
        "max_length",
        "max_source_positions",
        "max_window_layers",
        "min_length",
        "n_ctx",
        "n_group",
        "no_repeat_ngram_size",
        "num_beam_groups",
        "num_beams",
        "num_labels",
        "num_logits_to_keep",
        "num_nextn_predict_layers",
        "num_return_sequences",
        "original_max_position_embeddings",
        "pad_token_id",
        "pad_vocab_size_multiple",
        "prefill_chunk_size",
        "pretraining_tp",
        "qk_head_dim",
        "query_pre_attn_scalar",
        "rope_interleave",
        "seq_length",
        "sliding_window_size",
        "tensor_parallel_shards",
        "time_step_rank",
        "top_k",
        "topk_group",
        "window_size",
    }
)
"""Keys whose names look like shapes and that change no shape that is counted here."""


@dataclass(slots=True)
class _Notebook:
    """What one reading found: problems and where, notes and the keys that were asked for."""

    problems: list[Problem] = field(default_factory=list)
    wrong: set[Path_] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    asked: set[Path_] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Keys:
    """A table of a configuration, at ``path`` in its document."""

    document: Document
    table: dict[str, Any]
    path: Path_ = ()
    book: _Notebook = field(default_factory=_Notebook)

    def __contains__(self, name: str) -> bool:
        return self.table.get(name) is not None

    def value(self, *names: str) -> tuple[str, Any]:
        """Return the first of ``names`` that is there and not null, and its value (or None)."""
        for name in names:
            self.book.asked.add((*self.path, name))
        found = next((name for name in names if name in self), names[0])
        return found, self.table.get(found)

    def size(self, *names: str, default: int | None = None, at_most: int = LARGEST) -> int:
        """Return a positive whole number; without ``default`` it must be there."""
        name, value = self.value(*names)
        if value is None:
            if default is None:
                self.missing(*names)
                return 1
            return default
        return self._whole(name, value, 1, at_most)

    def optional(self, *names: str, at_most: int = LARGEST) -> int | None:
        """Return a positive whole number, or None if it is missing or null."""
        name, value = self.value(*names)
        return None if value is None else self._whole(name, value, 1, at_most)

    def count(self, *names: str, default: int = 0) -> int:
        """Return a whole number that may be zero; missing and null are ``default``."""
        name, value = self.value(*names)
        return default if value is None else self._whole(name, value, 0, LARGEST)

    def flag(self, *names: str, default: bool) -> bool:
        """Return true or false; missing and null are ``default``."""
        name, value = self.value(*names)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.problem(name, _shown(value), "must be true or false", f"{name}: true")
        return bool(value)

    def share(self, *names: str, default: float = 0.0) -> float:
        """Return a number from 0 to 1 (a dropout); missing and null are ``default``."""
        name, value = self.value(*names)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            self.problem(name, _shown(value), "must be a number from 0 to 1", f"{name}: 0.1")
            return default
        return float(value)

    def text(self, *names: str) -> str | None:
        """Return a text, or None if it is missing or null."""
        name, value = self.value(*names)
        if value is not None and not isinstance(value, str):
            self.problem(name, _shown(value), "must be a text", f'{name}: "..."')
            return None
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; missing and null are empty."""
        _, value = self.value(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
            self.problem(name, _shown(value), "must be a list of texts", f'{name}: ["..."]')
            return ()
        return tuple(value)

    def numbers(self, name: str) -> tuple[int, ...]:
        """Return a list of whole numbers; missing and null are empty."""
        _, value = self.value(name)
        if value is None:
            return ()
        whole = isinstance(value, list) and all(type(part) is int for part in value)
        if not whole:
            self.problem(name, _shown(value), "must be a list of whole numbers", f"{name}: [0, 1]")
            return ()
        return tuple(value)

    def sub(self, *names: str) -> Keys | None:
        """Return a nested table, or None if it is missing or null."""
        name, value = self.value(*names)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.problem(name, _shown(value), "must be a table", f"{name}: {{...}}")
            return None
        return Keys(self.document, value, (*self.path, name), self.book)

    def missing(self, *names: str) -> None:
        """Note that none of ``names`` is there."""
        others = f" (also known as {', '.join(names[1:])})" if names[1:] else ""
        self.problem(names[0], "nothing", f"the model's shape needs it{others}", f"add {names[0]}")

    def problem(self, name: str, found: str, rule: str, fix: str) -> None:
        """Note a problem of the value called ``name``."""
        path = (*self.path, name)
        self.book.wrong.add(path)
        self.book.problems.append(self.document.problem(path, found, rule, fix))

    def note(self, text: str) -> None:
        """Say something with every answer about this model."""
        if text not in self.book.notes:
            self.book.notes.append(text)

    def divides(self, small: str, part: int, large: str, whole: int) -> None:
        """Note a problem unless ``part`` divides ``whole``, or one of them is wrong already."""
        known = not {(*self.path, small), (*self.path, large)} & self.book.wrong
        if known and whole % part:
            self.problem(
                small,
                f"{part} with {large} = {whole}",
                f"{small} must divide {large}",
                f"correct {small} or {large}",
            )

    def check(self) -> None:
        """Raise everything that was wrong so far, if anything was."""
        if self.book.problems:
            raise InputError(self.book.problems)

    def fail(self) -> NoReturn:
        """Raise everything that was wrong so far; called where reading cannot go on."""
        raise InputError(self.book.problems)

    def settle(self) -> tuple[str, ...]:
        """Return the notes, after raising everything that was wrong."""
        self.check()
        strange = sorted(self._strange())
        if strange:
            self.note(f"Not understood, though the names sound like shapes: {', '.join(strange)}.")
        return tuple(self.book.notes)

    def _strange(self) -> Iterable[str]:
        """Yield keys of this table that nobody asked for and that sound like shapes."""
        for name, value in self.table.items():
            number = type(value) is int and value > 1
            asked = (*self.path, name) in self.book.asked
            if number and not asked and name not in _HARMLESS and _SHAPE_LIKE.search(name):
                yield ".".join((*self.path, name))

    def _whole(self, name: str, value: object, least: int, most: int) -> int:
        """Return ``value`` if it is a whole number in range, else note a problem and return 1."""
        if isinstance(value, float) and isfinite(value) and value == int(value):
            value = int(value)
        if type(value) is not int:
            self.problem(name, _shown(value), "must be a whole number", f"{name}: 4096")
            return 1
        if not least <= value <= most:
            rule = f"must be from {least} to {most:,}"
            self.problem(name, _shown(value), rule, f"correct {name}")
            return 1
        return value


def _shown(value: object) -> str:
    """Return a value as it stands in JSON, shortened."""
    text = (
        "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
    )
    return text if len(text) <= 40 else f"{text[:37]}..."
