"""Workloads from first principles: what a model computes, keeps and sends, by its shape.

One file per family (``decoder``, ``encoder``, ``encoder_decoder``, ``vit``, ``mlp``, ``cnn``,
``state_space``), built from blocks (``attention``, ``mla``, ``feed_forward``, ``moe``) and ends
(``ends``). Every builder takes a shape and returns a :class:`artery.core.workload.Workload`.
"""

from artery.workload.clip import Tower, clip, image_inputs, text_inputs
from artery.workload.cnn import CnnShape, Stage, cnn
from artery.workload.decoder import DecoderShape, decoder, gpt_shape
from artery.workload.encoder import EncoderShape, encoder
from artery.workload.encoder_decoder import EncoderDecoderShape, encoder_decoder
from artery.workload.linear_attention import LinearAttention
from artery.workload.mla import Indexer, LatentAttention
from artery.workload.mlp import MlpShape, mlp
from artery.workload.moe import Experts
from artery.workload.state_space import HybridShape, Mamba2Mixer, MambaShape, hybrid, mamba
from artery.workload.vit import VitShape, vit

__all__ = [
    "CnnShape",
    "DecoderShape",
    "EncoderDecoderShape",
    "EncoderShape",
    "Experts",
    "HybridShape",
    "Indexer",
    "LatentAttention",
    "LinearAttention",
    "Mamba2Mixer",
    "MambaShape",
    "MlpShape",
    "Stage",
    "Tower",
    "VitShape",
    "clip",
    "cnn",
    "decoder",
    "encoder",
    "encoder_decoder",
    "gpt_shape",
    "hybrid",
    "image_inputs",
    "mamba",
    "mlp",
    "text_inputs",
    "vit",
]
