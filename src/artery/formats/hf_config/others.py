"""Reads the models that are no plain decoders: BERT, T5, ViT, CLIP, Mamba and hybrids."""

from __future__ import annotations

from collections.abc import Callable

from artery.core.workload import Parameter, Workload
from artery.formats.hf_config.decoders import (
    HEADS,
    HIDDEN,
    KV_HEADS,
    LAYERS,
    VOCAB,
    WIDTH,
    usual_sequence,
)
from artery.formats.hf_config.experts import experts
from artery.formats.hf_config.keys import DEEPEST_MODEL, Keys
from artery.formats.hf_config.styles import STYLES
from artery.workload import (
    EncoderDecoderShape,
    EncoderShape,
    HybridShape,
    Mamba2Mixer,
    MambaShape,
    Tower,
    VitShape,
    clip,
    encoder,
    encoder_decoder,
    hybrid,
    image_inputs,
    mamba,
    text_inputs,
    vit,
)

Reader = Callable[[Keys, str], Workload]
"""From a configuration and a name to the workload; raises ``InputError`` if anything is wrong."""


def read_bert(keys: Keys, name: str) -> Workload:
    """BERT and RoBERTa, with the heads that ``architectures`` names."""
    head = next(iter(keys.texts("architectures")), "BertForPreTraining")
    masked = "MaskedLM" in head or "PreTraining" in head
    longest = keys.size("max_position_embeddings")
    shape = EncoderShape(
        layers=keys.size(*LAYERS, at_most=DEEPEST_MODEL),
        hidden=keys.size(*HIDDEN),
        heads=keys.size(*HEADS),
        vocab=keys.size(*VOCAB),
        sequence=usual_sequence(keys, longest),
        positions=longest,
        segments=keys.count("type_vocab_size", default=2),
        feed_forward=keys.size(*WIDTH),
        dropout=keys.share("hidden_dropout_prob", default=0.1),
        attention_dropout=keys.share("attention_probs_dropout_prob", default=0.1),
        pooler="MaskedLM" not in head,
        mlm=masked,
        nsp="PreTraining" in head,
    )
    keys.divides(keys.value(*HEADS)[0], shape.heads, keys.value(*HIDDEN)[0], shape.hidden)
    if not masked:
        keys.note(f"{head}: without a masked-language-model head there is no loss to train on.")
    keys.check()
    return encoder(name, shape)


def read_t5(keys: Keys, name: str) -> Workload:
    """T5 v1.0 and v1.1: gated or not by ``feed_forward_proj``."""
    layers = keys.size("num_layers", at_most=DEEPEST_MODEL)
    decoders = keys.size("num_decoder_layers", default=layers, at_most=DEEPEST_MODEL)
    if "EncoderModel" in next(iter(keys.texts("architectures")), ""):
        keys.note("Only the encoder is there: without a decoder there is no loss to train on.")
        decoders = 0
    activation = keys.text("feed_forward_proj") or "relu"
    longest = keys.optional("n_positions")
    shape = EncoderDecoderShape(
        encoder_layers=layers,
        decoder_layers=decoders,
        hidden=keys.size("d_model"),
        heads=keys.size("num_heads"),
        head_dim=keys.size("d_kv"),
        feed_forward=keys.size("d_ff"),
        vocab=keys.size("vocab_size"),
        sequence=usual_sequence(keys, longest),
        gated=activation.startswith("gated"),
        tied=keys.flag("tie_word_embeddings", default=True),
        buckets=keys.size("relative_attention_num_buckets", default=32),
        dropout=keys.share("dropout_rate", default=0.1),
    )
    keys.check()
    return encoder_decoder(name, shape)


def read_vit(keys: Keys, name: str) -> Workload:
    """ViT, with a classifier if ``architectures`` says so, else with a pooler."""
    head = next(iter(keys.texts("architectures")), "ViTForImageClassification")
    classifies = "Classification" in head
    shape = VitShape(
        layers=keys.size(*LAYERS, at_most=DEEPEST_MODEL),
        hidden=keys.size(*HIDDEN),
        heads=keys.size(*HEADS),
        image=keys.size("image_size"),
        patch=keys.size("patch_size"),
        channels=keys.size("num_channels", default=3),
        feed_forward=keys.size(*WIDTH),
        classes=_classes(keys) if classifies else 0,
        pooler=not classifies,
        qkv_bias=keys.flag("qkv_bias", default=True),
        dropout=keys.share("hidden_dropout_prob"),
        attention_dropout=keys.share("attention_probs_dropout_prob"),
    )
    keys.divides(keys.value(*HEADS)[0], shape.heads, keys.value(*HIDDEN)[0], shape.hidden)
    keys.divides("patch_size", shape.patch, "image_size", shape.image)
    keys.check()
    return vit(name, shape)


def _classes(keys: Keys) -> int:
    """Return the size of the classifier: the labels listed, or ``num_labels``."""
    labels = keys.sub("id2label")
    if labels is not None:
        return len(labels.table)
    if "num_labels" not in keys:
        keys.note("No labels are listed; a classifier of 1,000 classes (ImageNet) is taken.")
    return keys.size("num_labels", default=1000)


def read_clip(keys: Keys, name: str) -> Workload:
    """CLIP: two nested towers and their projections."""
    text, vision = keys.sub("text_config"), keys.sub("vision_config")
    if text is None or vision is None:
        keys.missing("vision_config" if text else "text_config")
        keys.fail()
    width, positions = text.size("hidden_size"), text.size("max_position_embeddings", default=77)
    words = _tower(text, text_inputs(text.size("vocab_size"), positions, width), norms=1)
    image, patch = vision.size("image_size"), vision.size("patch_size")
    vision.divides("patch_size", patch, "image_size", image)
    images = _tower(vision, image_inputs(image, patch, vision.size("hidden_size")), norms=2)
    projection = keys.size("projection_dim", default=512)
    keys.check()
    return clip(name, words, images, projection, positions=positions)


def _tower(keys: Keys, inputs: tuple[Parameter, ...], *, norms: int) -> Tower:
    """Return one tower of CLIP."""
    tower = Tower(
        layers=keys.size(*LAYERS, at_most=DEEPEST_MODEL),
        hidden=keys.size("hidden_size"),
        heads=keys.size(*HEADS),
        feed_forward=keys.size(*WIDTH),
        inputs=inputs,
        norms=norms,
    )
    keys.divides("num_attention_heads", tower.heads, "hidden_size", tower.hidden)
    return tower


def read_mamba(keys: Keys, name: str) -> Workload:
    """Mamba 1."""
    hidden = keys.size(*HIDDEN)
    expand = keys.size("expand", default=2)
    shape = MambaShape(
        layers=keys.size(*LAYERS, at_most=DEEPEST_MODEL),
        hidden=hidden,
        inner=keys.size("intermediate_size", "d_inner", default=expand * hidden),
        state=keys.size("state_size", "d_state", default=16),
        rank=_step_rank(keys, hidden),
        vocab=keys.size(*VOCAB),
        sequence=usual_sequence(keys, None),
        kernel=keys.size("conv_kernel", "d_conv", default=4),
        bias=keys.flag("use_bias", default=False),
        conv_bias=keys.flag("use_conv_bias", default=True),
        tied=keys.flag("tie_word_embeddings", default=True),
    )
    keys.check()
    return mamba(name, shape)


def _step_rank(keys: Keys, hidden: int) -> int:
    """Return the rank of the step-size projection; ``auto`` is hidden / 16, rounded up."""
    _, value = keys.value("time_step_rank", "dt_rank")
    automatic = -(-hidden // 16)
    return automatic if value == "auto" else keys.size("time_step_rank", default=automatic)


def read_mamba2(keys: Keys, name: str) -> Workload:
    """Mamba 2: a hybrid of Mamba-2 mixers alone."""
    layers = keys.size(*LAYERS, at_most=DEEPEST_MODEL)
    shape = HybridShape(
        pattern="M" * layers,
        hidden=keys.size(*HIDDEN),
        mixer=_mixer(keys, heads="num_heads", head_dim="head_dim", state="state_size"),
        heads=1,
        kv_heads=1,
        head_dim=1,
        feed_forward=1,
        vocab=keys.size(*VOCAB),
        sequence=usual_sequence(keys, None),
        tied=keys.flag("tie_word_embeddings", default=False),
    )
    keys.check()
    return hybrid(name, shape)


_BLOCKS = {
    "mamba": "M",
    "linear_attention": "M",
    "attention": "*",
    "full_attention": "*",
    "mlp": "-",
    "moe": "E",
}
"""The letters of a pattern for the names in ``layers_block_type``."""


def read_nemotron_h(keys: Keys, name: str) -> Workload:
    """Nemotron-H: Mamba-2, attention, feed-forward and mixture layers by a pattern."""
    pattern = _pattern(keys)
    heads = keys.size(*HEADS)
    shape = HybridShape(
        pattern=pattern,
        hidden=keys.size(*HIDDEN),
        mixer=_mixer(
            keys, heads="mamba_num_heads", head_dim="mamba_head_dim", state="ssm_state_size"
        ),
        heads=heads,
        kv_heads=keys.size(*KV_HEADS, default=heads),
        head_dim=keys.size("head_dim", "attention_head_dim"),
        feed_forward=keys.size(*WIDTH, default=1 if "-" not in pattern else None),
        vocab=keys.size(*VOCAB),
        sequence=usual_sequence(keys, keys.optional("max_position_embeddings")),
        attention_bias=keys.flag("attention_bias", default=False),
        mlp_bias=keys.flag("mlp_bias", default=False),
        tied=keys.flag("tie_word_embeddings", default=False),
        experts=experts(keys, STYLES["nemotron"]) if "E" in pattern else None,
        expert_hidden=keys.count("moe_latent_size"),
    )
    keys.check()
    return hybrid(name, shape)


def _pattern(keys: Keys) -> str:
    """Return one letter per layer."""
    names = keys.texts("layers_block_type")
    if names:
        for strange in sorted(set(names) - set(_BLOCKS)):
            rule = f"a layer is one of {', '.join(_BLOCKS)}"
            keys.problem("layers_block_type", strange, rule, "correct layers_block_type")
        return "".join(_BLOCKS.get(block, "-") for block in names)
    pattern = keys.text("hybrid_override_pattern") or ""
    layers = keys.size(*LAYERS, default=len(pattern), at_most=DEEPEST_MODEL)
    if not pattern:
        keys.missing("hybrid_override_pattern", "layers_block_type")
    elif len(pattern) != layers or set(pattern) - set(_BLOCKS.values()):
        keys.problem(
            "hybrid_override_pattern",
            f"{len(pattern)} letters of {''.join(sorted(set(pattern)))}",
            f"there must be one of M, *, - and E for each of the {layers} layers",
            "correct the pattern or the number of layers",
        )
    return pattern


def _mixer(keys: Keys, *, heads: str, head_dim: str, state: str) -> Mamba2Mixer:
    """Return the Mamba-2 mixer under the file's names."""
    return Mamba2Mixer(
        heads=keys.size(heads),
        head_dim=keys.size(head_dim),
        groups=keys.size("n_groups", default=8),
        state=keys.size(state, default=128),
        kernel=keys.size("conv_kernel", default=4),
        bias=keys.flag("use_bias", "mamba_proj_bias", default=False),
        conv_bias=keys.flag("use_conv_bias", default=True),
    )


OTHERS: dict[str, Reader] = {
    "bert": read_bert,
    "camembert": read_bert,
    "clip": read_clip,
    "falcon_mamba": read_mamba,
    "mamba": read_mamba,
    "mamba2": read_mamba2,
    "mt5": read_t5,
    "nemotron_h": read_nemotron_h,
    "roberta": read_bert,
    "t5": read_t5,
    "vit": read_vit,
    "xlm-roberta": read_bert,
}
"""The readers by ``model_type``."""
