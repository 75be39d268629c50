"""Launch scripts and training logs of Megatron-LM, for steps that a test makes up."""

from __future__ import annotations

from pathlib import Path

SCRIPT = """#!/bin/bash
torchrun --nproc_per_node 8 --nnodes {nodes} pretrain_gpt.py --num-layers {layers} \\
  --hidden-size {hidden} --ffn-hidden-size {ffn} --num-attention-heads 32 {groups} \\
  --swiglu --seq-length {seq} --max-position-embeddings {seq} \\
  --vocab-size 128256 --untie-embeddings-and-output-weights --position-embedding-type rope \\
  --normalization RMSNorm --disable-bias-linear --tensor-model-parallel-size {tp} \\
  --pipeline-model-parallel-size 1 --micro-batch-size 1 --global-batch-size {batch} --bf16 \\
  --sequence-parallel --use-distributed-optimizer
"""
GROUPED = "--group-query-attention --num-query-groups 8"


def script(path: Path, **sizes: int) -> str:
    """Write a launch script; without ``sizes``, of Llama 3 8B on four nodes."""
    usual = {"nodes": 4, "layers": 32, "hidden": 4096, "ffn": 14336, "seq": 8192}
    usual |= {"tp": 2, "batch": 128}
    path.write_text(SCRIPT.format(groups=GROUPED, **(usual | sizes)), encoding="utf-8")
    return str(path)


def log(path: Path, seconds: float, batch: int = 128) -> str:
    """Write a log that reports eight steps of so many seconds."""
    lines = [
        f" [2026-03-03 09:0{i}:00] iteration {i:8d}/ 500 | consumed samples: {batch * i} | elapsed "
        f"time per iteration (ms): {seconds * 1e3:.3f} | learning rate: 1.0E-05 | global batch "
        f"size: {batch} | lm loss: 9.5E+00 | number of skipped iterations: 0 |\n"
        for i in range(1, 9)
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)
