"""Workloads from first principles: what a model computes, keeps and sends, by its shape.

One file per family (``decoder``, ``encoder``, ``encoder_decoder``, ``vit``, ``mlp``, ``cnn``,
``state_space``), built from blocks (``attention``, ``mla``, ``feed_forward``, ``moe``) and ends
(``ends``). Every builder takes a shape and returns a :class:`artery.core.workload.Workload`.
"""

from artery.workload.decoder import DecoderShape, decoder, gpt_shape
from artery.workload.mla import LatentAttention
from artery.workload.moe import Experts

__all__ = ["DecoderShape", "Experts", "LatentAttention", "decoder", "gpt_shape"]
