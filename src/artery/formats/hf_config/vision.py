"""Reads the vision tower of a model that also sees: its weights are counted, not timed.

The towers are those of the published implementations (Hugging Face transformers 5.24.0).
"""

from __future__ import annotations

from collections.abc import Callable

from artery.core.workload import Parameter
from artery.formats.hf_config.keys import DEEPEST_MODEL, Keys
from artery.workload.clip import Tower, image_inputs
from artery.workload.counted import weight

Weighed = tuple[Parameter, ...]
Reader = Callable[[Keys, Keys, int], Weighed]
"""From the whole configuration, its vision table and the text model's hidden size."""

LLAMA4_DEFAULTS = {
    "hidden_size": 768,
    "image_size": 448,
    "intermediate_size": 5632,
    "num_attention_heads": 16,
    "num_hidden_layers": 34,
    "patch_size": 14,
    "projector_input_dim": 4096,
    "projector_output_dim": 4096,
    "vision_output_dim": 7680,
}
"""Llama4VisionConfig of transformers 5.24.0, where a file leaves the tower to the library."""


def vision_weights(keys: Keys, kind: str, hidden: int) -> Weighed:
    """Return the weights of tower and projector of a model of type ``kind``, with a note.

    ``keys`` is the whole configuration, ``hidden`` the text model's. A tower that is not known
    is left out, and the note says so.
    """
    table = keys.sub("vision_config")
    reader = _READERS.get(kind)
    if table is None and kind == "llama4":
        keys.note("vision_config is not given: the vision tower has the library's default shape.")
        path = (*keys.path, "vision_config")
        table = Keys(keys.document, dict(LLAMA4_DEFAULTS), path, keys.book)
    if table is None:
        return ()
    if reader is None:
        keys.note("The vision tower is neither counted nor timed.")
        return ()
    made = reader(keys, table, hidden)
    total = sum(parameter.size for parameter in made)
    keys.note(f"The vision tower ({total:,} weights) is counted, not timed.")
    return made


def _gemma3(_: Keys, vision: Keys, hidden: int) -> Weighed:
    """Gemma 3: SigLIP without its pooling head, a norm and one map into the text model."""
    width, patch = vision.size("hidden_size"), vision.size("patch_size")
    patches = (vision.size("image_size") // patch) ** 2
    inputs = (*_map("patch", 3 * patch**2, width), weight("image positions", patches, width))
    if vision.flag("vision_use_head", default=True):
        vision.problem("vision_use_head", "true", "the pooling head is not modelled", "false")
    ends = (weight("projector norm", width), weight("projector weight", width, hidden))
    return (*_every(_tower(vision, inputs)), *ends)


def _llama4(_: Keys, vision: Keys, hidden: int) -> Weighed:
    """Llama 4: a tower, two maps around a pixel shuffle, and a projector."""
    middle, end = vision.size("projector_input_dim"), vision.size("projector_output_dim")
    return (
        *_every(_tower(vision, _class_and_patches(vision), norms=2)),
        weight("adapter in weight", vision.size("intermediate_size"), middle),
        weight("adapter out weight", middle, end),
        weight("projector weight", vision.size("vision_output_dim"), hidden),
    )


def _llava(keys: Keys, vision: Keys, hidden: int) -> Weighed:
    """LLaVA: CLIP's vision tower and two maps."""
    biased = keys.flag("multimodal_projector_bias", default=True)
    return (
        *_every(_tower(vision, _class_and_patches(vision), norms=2)),
        *_map("projector in", vision.size("hidden_size"), hidden, bias=biased),
        *_map("projector out", hidden, hidden, bias=biased),
    )


def _mistral3(keys: Keys, vision: Keys, hidden: int) -> Weighed:
    """Mistral 3: Pixtral's tower, a norm, a merger of patches, two maps."""
    width, patch = vision.size("hidden_size"), vision.size("patch_size")
    merged = keys.size("spatial_merge_size", default=2) ** 2 * width
    biased = keys.flag("multimodal_projector_bias", default=False)
    inputs = (weight("patch weight", 3 * patch**2, width),)
    return (
        *_every(_tower(vision, inputs, rms=True)),
        weight("projector norm", width),
        weight("patch merger", merged, width),
        *_map("projector in", width, hidden, bias=biased),
        *_map("projector out", hidden, hidden, bias=biased),
    )


def _qwen2_5(_: Keys, vision: Keys, hidden: int) -> Weighed:
    """Qwen2.5-VL: RMSNorm, gated blocks with biases, one merger."""
    width = vision.size("hidden_size")
    inputs = (weight("patch weight", _pixels(vision), width),)
    tower = _tower(vision, inputs, norms=0, rms=True, attention_bias=True, mlp_bias=True)
    end = vision.size("out_hidden_size", default=hidden)
    return (*_every(tower), weight("merger norm", width), *_merger(vision, end))


def _qwen3(_: Keys, vision: Keys, hidden: int) -> Weighed:
    """Qwen3-VL: learned positions, and a merger at the end and after some of the layers."""
    width = vision.size("hidden_size")
    positions = weight("image positions", vision.size("num_position_embeddings"), width)
    inputs = (*_map("patch", _pixels(vision), width), positions)
    end = vision.size("out_hidden_size", default=hidden)
    merged = vision.size("spatial_merge_size", default=2) ** 2 * width
    deep = (weight("deep merger norm", 2, merged), *_merger(vision, end))
    copies = len(vision.numbers("deepstack_visual_indexes"))
    return (
        *_every(_tower(vision, inputs, norms=0)),
        weight("merger norm", 2, width),
        *_merger(vision, end),
        *(part for _ in range(copies) for part in deep),
    )


def _tower(
    vision: Keys,
    inputs: Weighed,
    *,
    norms: int = 1,
    rms: bool = False,
    attention_bias: bool | None = None,
    mlp_bias: bool | None = None,
) -> Tower:
    """Return the tower; ``rms`` towers are gated and have no biases unless told."""
    heads, hidden = vision.size("num_attention_heads", "num_heads"), vision.size("hidden_size")
    vision.divides("num_attention_heads", heads, "hidden_size", hidden)
    return Tower(
        layers=vision.size("num_hidden_layers", "depth", at_most=DEEPEST_MODEL),
        hidden=hidden,
        heads=heads,
        feed_forward=vision.size("intermediate_size"),
        inputs=inputs,
        norms=norms,
        norm="rms" if rms else "layer",
        gated=rms,
        attention_bias=not rms if attention_bias is None else attention_bias,
        mlp_bias=not rms if mlp_bias is None else mlp_bias,
    )


def _class_and_patches(vision: Keys) -> Weighed:
    """Return patches without bias, a class token and a position for each."""
    image, patch = vision.size("image_size"), vision.size("patch_size")
    return image_inputs(image, patch, vision.size("hidden_size"))


def _pixels(vision: Keys) -> int:
    """Return the values of one patch over its frames."""
    frames = vision.size("temporal_patch_size", default=2)
    return vision.size("in_channels", default=3) * frames * vision.size("patch_size") ** 2


def _merger(vision: Keys, end: int) -> Weighed:
    """Return two maps with biases that merge neighbouring patches into a row of the text."""
    merged = vision.size("spatial_merge_size", default=2) ** 2 * vision.size("hidden_size")
    return (*_map("merger in", merged, merged), *_map("merger out", merged, end))


def _map(name: str, k: int, n: int, *, bias: bool = True) -> Weighed:
    """Return a linear map."""
    vector = (weight(f"{name} bias", n),) if bias else ()
    return (weight(f"{name} weight", k, n), *vector)


def _every(tower: Tower) -> Weighed:
    """Return every weight of a tower, each as often as it occurs."""
    return tuple(
        Parameter(f"vision {p.name}", p.shape, "none", p.count * part.count)
        for part in tower.weights("vision")
        for p in part.parameters
    )


_READERS: dict[str, Reader] = {
    "gemma3": _gemma3,
    "llama4": _llama4,
    "llava": _llava,
    "mistral3": _mistral3,
    "qwen2_5_vl": _qwen2_5,
    "qwen3_5": _qwen3,
    "qwen3_5_moe": _qwen3,
    "qwen3_vl": _qwen3,
    "qwen3_vl_moe": _qwen3,
}
"""The readers by ``model_type`` of the whole model."""
