"""Models whose weights are counted and whose steps are not timed."""

from __future__ import annotations

from artery.workload import (
    Experts,
    HybridShape,
    Mamba2Mixer,
    MambaShape,
    Tower,
    clip,
    hybrid,
    image_inputs,
    mamba,
    text_inputs,
)


def test_mamba_by_hand() -> None:
    # arXiv 2312.00752, section 3.4: in 2·inner, convolution, x projection to rank + 2·state,
    # step projection, state matrix, skip, out; inner = 2·hidden.
    shape = MambaShape(
        layers=3, hidden=16, inner=32, state=4, rank=2, vocab=50, sequence=8, kernel=4
    )
    mixer = 16 + 16 * 64 + 32 * 4 + 32 + 32 * 10 + 2 * 32 + 32 + 32 * 4 + 32 + 32 * 16
    built = mamba("mamba", shape)
    assert built.parameters == 50 * 16 + 3 * mixer + 16
    assert built.unsupported is not None
    assert "not modelled" in built.unsupported


MIXER = Mamba2Mixer(heads=4, head_dim=8, groups=2, state=6)


def mixer_weights() -> int:
    convolved = 32 + 2 * 2 * 6
    return 16 * (32 + convolved + 4) + convolved * 4 + convolved + 3 * 4 + 32 + 32 * 16


def test_hybrid_by_hand() -> None:
    shape = HybridShape(
        pattern="M*ME-",
        hidden=16,
        mixer=MIXER,
        heads=4,
        kv_heads=2,
        head_dim=5,
        feed_forward=24,
        vocab=50,
        sequence=8,
        experts=Experts(count=4, top_k=1, width=10, gated=False, shared_width=6),
        expert_hidden=8,
    )
    attention = 16 * (20 + 2 * 10) + 20 * 16
    dense = 2 * 16 * 24
    experts = 4 * 2 * 8 * 10
    mixture = 16 * 4 + 2 * 16 * 6 + experts + 2 * 16 * 8
    built = hybrid("hybrid", shape)
    layers = 2 * mixer_weights() + attention + dense + mixture + 5 * 16
    assert built.parameters == 2 * 50 * 16 + 16 + layers
    assert built.active_parameters == built.parameters - experts * 3 // 4


def test_clip_by_hand() -> None:
    text = Tower(
        layers=2, hidden=16, heads=2, feed_forward=32, inputs=text_inputs(50, 9, 16), norms=1
    )
    vision = Tower(
        layers=3, hidden=24, heads=2, feed_forward=40, inputs=image_inputs(32, 8, 24), norms=2
    )

    def block(h: int, f: int) -> int:
        return h * 3 * h + 3 * h + h * h + h + h * f + f + f * h + h + 4 * h

    words = 50 * 16 + 9 * 16 + 2 * block(16, 32) + 2 * 16
    images = 3 * 64 * 24 + 24 + 17 * 24 + 3 * block(24, 40) + 4 * 24
    built = clip("clip", text, vision, 12, positions=9)
    assert built.parameters == words + images + 16 * 12 + 24 * 12 + 1
    assert built.unsupported is not None
