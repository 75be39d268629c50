"""Finds out what kind of model a configuration describes, and reads it."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from artery.core.workload import Workload
from artery.errors import did_you_mean, nearest
from artery.formats.hf_config.decoders import decoder_shape
from artery.formats.hf_config.dtypes import weight_dtype
from artery.formats.hf_config.keys import Keys
from artery.formats.hf_config.others import OTHERS
from artery.formats.hf_config.styles import NESTED_DEFAULTS, OTHER_NAMES, STYLES
from artery.formats.hf_config.vision import vision_weights
from artery.workload import decoder

_ENDINGS = (
    "ForCausalLM",
    "LMHeadModel",
    "ForConditionalGeneration",
    "ForPreTraining",
    "ForMaskedLM",
    "ForImageClassification",
    "EncoderModel",
    "Model",
)
"""What architectures' class names end in, longest first."""

KNOWN = (*STYLES, *OTHERS, *OTHER_NAMES)
"""Every model type that can be read."""


def read_family(keys: Keys, name: str) -> Workload:
    """Return the workload of a configuration; raises ``InputError`` with all that is wrong."""
    kind = _kind(keys)
    text = keys.sub("text_config")
    if kind in OTHERS:
        workload = OTHERS[kind](keys, name)
    elif text is not None:
        workload = _seeing(keys, text, kind, name)
    else:
        shape = decoder_shape(keys, _known(keys, kind))
        keys.check()
        workload = decoder(name, shape)
    dtype = weight_dtype(keys) or (weight_dtype(text) if text is not None else None)
    notes = keys.settle()
    return replace(workload, weight_dtype=dtype, notes=(*workload.notes, *notes))


def _seeing(keys: Keys, text: Keys, kind: str, name: str) -> Workload:
    """Return a decoder nested in ``text_config``, beside a vision tower."""
    inner = _known(text, text.text("model_type") or f"{kind}_text")
    text = _completed(keys, text, inner)
    shape = decoder_shape(text, inner)
    tied = keys.flag("tie_word_embeddings", default=shape.tied)
    extra = vision_weights(keys, kind, shape.hidden)
    keys.check()
    workload = decoder(name, replace(shape, tied=tied))
    first = replace(workload.first, parameters=(*workload.first.parameters, *extra))
    return replace(workload, first=first)


def _completed(keys: Keys, text: Keys, kind: str) -> Keys:
    """Return a nested table with the library's defaults where it is silent, and say so."""
    defaults = NESTED_DEFAULTS.get(kind, {})
    taken = {key: value for key, value in defaults.items() if key not in text.table}
    if taken:
        listed = ", ".join(f"{key} {value}" for key, value in taken.items())
        keys.note(f"text_config leaves to the library's defaults: {listed}.")
    return Keys(text.document, {**taken, **text.table}, text.path, text.book)


def _kind(keys: Keys) -> str:
    """Return the model type: as given, else from the class name, else from the keys used."""
    given = keys.text("model_type")
    classes = keys.texts("architectures")
    keys.check()
    if given:
        return OTHER_NAMES.get(given, given)
    if classes:
        return _from_class(keys, classes[0])
    guess = "gpt2" if "n_embd" in keys else "llama"
    if not {"hidden_size", "n_embd"} & set(keys.table):
        keys.missing("model_type", "architectures")
        keys.fail()
    keys.note(f"Neither model_type nor architectures is given: read as a {guess} by its keys.")
    return guess


def _from_class(keys: Keys, name: str) -> str:
    """Return the model type that a class name such as ``LlamaForCausalLM`` belongs to."""
    stem = name
    for ending in _ENDINGS:
        if name.endswith(ending):
            stem = name.removesuffix(ending)
            break
    by_folded = {known.replace("_", "").casefold(): known for known in KNOWN}
    folded = stem.casefold()
    if folded not in by_folded:
        _refuse(keys, "architectures", name, stem)
    known = by_folded[folded]
    return OTHER_NAMES.get(known, known)


def _known(keys: Keys, kind: str) -> str:
    """Return the style's name, or refuse a model type that nobody knows."""
    kind = OTHER_NAMES.get(kind, kind)
    if kind not in STYLES:
        _refuse(keys, "model_type", kind, kind)
    return kind


def _refuse(keys: Keys, field: str, found: str, stem: str) -> NoReturn:
    """Raise that this architecture is not known, with the nearest ones."""
    families = ", ".join(sorted({*STYLES, *OTHERS}))
    keys.problem(
        field,
        f'"{found}"',
        f"no architecture of that name can be read (known are {families})",
        did_you_mean(nearest(stem, KNOWN)) or "describe it as one of them",
    )
    keys.fail()
