"""Hugging Face ``config.json``: the shape of a model, in all the names it comes under.

``read`` takes a file, its folder or stdin and returns the workload. ``families`` finds out what
kind of model it is; ``styles`` holds what each architecture implies without saying so;
``decoders``, ``experts``, ``latent``, ``windows`` and ``quirks`` read decoders, ``others`` the
rest; ``keys`` and ``document`` read values and report problems with their place.
"""

from __future__ import annotations

from pathlib import Path

from artery.core.workload import Workload
from artery.formats.hf_config.document import STDIN, load
from artery.formats.hf_config.families import read_family
from artery.formats.hf_config.keys import Keys

__all__ = ["read"]


def read(source: str | Path) -> Workload:
    """Return the workload of a ``config.json``, of the folder that holds one, or of stdin (``-``).

    ``notes`` say what the file leaves open and what was taken instead, and ``weight_dtype`` what
    the weights are stored in. Raises :class:`artery.errors.InputError` with the place, the rule
    and the fix of everything that is wrong.
    """
    document = load(source)
    return read_family(Keys(document, document.table), _name(document.file))


def _name(file: str) -> str:
    """Return the model's name: the file's, or its folder's if the file is just ``config.json``."""
    if file == STDIN:
        return "model"
    path = Path(file)
    return path.resolve().parent.name if path.name == "config.json" else path.stem
