"""Reads the vision tower of a model that also sees: its weights are counted, not timed."""

from __future__ import annotations

from collections.abc import Callable

from artery.core.workload import Parameter
from artery.formats.hf_config.keys import Keys
from artery.workload.clip import Tower, image_inputs
from artery.workload.counted import weight

Reader = Callable[[Keys, int], tuple[Parameter, ...]]
"""From the vision table and the text model's hidden size to the tower's weights."""


def vision_weights(keys: Keys, kind: str, hidden: int) -> tuple[Parameter, ...]:
    """Return the weights of tower and projector of a model of type ``kind``, with a note.

    ``keys`` is the whole configuration, ``hidden`` the text model's. A tower that is not known
    is left out, and the note says so.
    """
    table = keys.sub("vision_config")
    reader = _READERS.get(kind)
    if reader is None:
        if table is not None:
            keys.note("The vision tower is neither counted nor timed.")
        return ()
    if table is None:
        keys.note("vision_config is not given: the vision tower has the library's default shape.")
        table = Keys(keys.document, {}, (*keys.path, "vision_config"), keys.book)
    made = reader(table, hidden)
    total = sum(parameter.size for parameter in made)
    keys.note(f"The vision tower ({total:,} weights) is counted, not timed.")
    return made


def _llama4(keys: Keys, hidden: int) -> tuple[Parameter, ...]:
    """Llama 4: a tower, a pixel shuffle with two maps, and a projector.

    The defaults of absent keys are those of Hugging Face transformers 5.24.0.
    """
    width, inner = (
        keys.size("hidden_size", default=768),
        keys.size("intermediate_size", default=5632),
    )
    image, patch = keys.size("image_size", default=448), keys.size("patch_size", default=14)
    tower = Tower(
        layers=keys.size("num_hidden_layers", default=34),
        hidden=width,
        heads=keys.size("num_attention_heads", default=16),
        feed_forward=inner,
        inputs=image_inputs(image, patch, width),
        norms=2,
    )
    middle = keys.size("projector_input_dim", default=4096)
    end = keys.size("projector_output_dim", default=4096)
    return (
        *_all_weights(tower),
        weight("adapter in weight", inner, middle),
        weight("adapter out weight", middle, end),
        weight("projector weight", keys.size("vision_output_dim", default=7680), hidden),
    )


def _all_weights(tower: Tower) -> tuple[Parameter, ...]:
    """Return every weight of a tower, each as often as it occurs."""
    return tuple(
        Parameter(f"vision {p.name}", p.shape, "none", p.count * part.count)
        for part in tower.weights("vision")
        for p in part.parameters
    )


_READERS: dict[str, Reader] = {"llama4": _llama4}
