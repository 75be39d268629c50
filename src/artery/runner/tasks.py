"""Tasks by name: a model and its data, as ``artery train MODEL --data DATA`` names them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from artery.errors import InputError, Problem, UnknownNameError
from artery.runner.data import Data
from artery.runner.models import factory

MODELS: Final = ("resnet18", "resnet50", "transformer")
DATA: Final = ("synthetic", "synthetic-text", "digits")
_TEST_BATCH: Final = 64
SMALLEST: Final = 32
"""Pixels per side below which a ResNet's last maps vanish (it halves the side five times)."""


@dataclass(frozen=True)
class Supervised:
    """A model (a name of :data:`MODELS` or ``module:function``) and the data it learns."""

    model: str
    data: Data

    @property
    def name(self) -> str:
        """The model and its data, in words."""
        return f"{self.model} on {self.data.name}"

    @property
    def samples(self) -> int:
        """How many samples the training set has."""
        return self.data.training

    @property
    def metric(self) -> str:
        """What :meth:`evaluate` returns: ``accuracy`` of images, ``loss`` of text (nats)."""
        return "accuracy" if self.data.kind == "images" else "loss"

    def build(self, seed: int) -> nn.Module:
        """Return a new model with weights drawn from ``seed``."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return _made(self.model, self.data).train()

    def loss(self, model: nn.Module, indices: Tensor) -> Tensor:
        """Return the mean cross entropy in nats over the samples, or their tokens."""
        inputs, targets = self.data.train(indices)
        logits = model(inputs)
        return functional.cross_entropy(logits.flatten(0, -2), targets.flatten())

    def tried(self, model: nn.Module) -> None:
        """Compute one loss of ``model``, so that one of a factory that cannot learn says so now.

        Twice the first sample: a batch norm over one pixel has nothing to take a spread of.
        Raises :class:`artery.errors.InputError`.
        """
        indices = torch.zeros(2, dtype=torch.int64)
        with torch.no_grad():
            if ":" in self.model:
                factory.tried(self.model, model, *self.data.train(indices), self.data.classes)
            self.loss(model, indices)

    def evaluate(self, model: nn.Module) -> float:
        """Return the accuracy (images) or the mean loss (text) on all held-out samples."""
        was_training = model.training
        model.eval()
        total = 0.0
        with torch.no_grad():
            for indices in _batches(self.data.testing):
                inputs, targets = self.data.test(indices)
                logits, wanted = model(inputs).flatten(0, -2), targets.flatten()
                if self.metric == "accuracy":
                    total += float((logits.argmax(1) == wanted).sum())
                else:
                    total += float(functional.cross_entropy(logits, wanted)) * len(indices)
        model.train(was_training)
        return total / self.data.testing


def find_task(model: str, data: str = "synthetic", *, size: int | None = None) -> Supervised:
    """Return the task of training ``model`` on ``data``.

    ``data`` is a name of :data:`DATA` or a folder of images; plain ``synthetic`` is text for the
    transformer and images for any other model. ``size`` is pixels per side or tokens per sample.
    """
    if model not in MODELS and ":" not in model:
        raise UnknownNameError("model to train", model, (*MODELS, "module:function"))
    samples = _data(model, data, size)
    if model in ("resnet18", "resnet50") and samples.kind != "images":
        raise _misfit(f"{samples.name} text", f"{model} learns images", "use the transformer")
    side = samples.size
    if samples.kind == "images" and model == "transformer" and side % 4:
        raise _misfit(f"{side} pixels", "the transformer cuts patches of 4", "use a multiple")
    if model.startswith("resnet") and side < SMALLEST:
        fix = f"ask for {SMALLEST} or more"
        raise _misfit(f"{side} pixels", "a ResNet halves the side five times", fix)
    task = Supervised(model, samples)
    if ":" in model:
        factory.load(model)
    return task


def _data(model: str, data: str, size: int | None) -> Data:
    if size is not None and not 1 <= size <= 4096:
        raise _misfit(f"size {size}", "samples have 1 to 4,096 pixels or tokens", "choose one")
    if data == "digits":
        from artery.runner.data.digits import Digits

        return Digits(size or 32)
    if data == "synthetic-text" or (data == "synthetic" and model == "transformer"):
        from artery.runner.data.synthetic import SyntheticText

        return SyntheticText(size or 64)
    if data == "synthetic":
        from artery.runner.data.synthetic import SyntheticImages

        return SyntheticImages(size or 32)
    from artery.runner.data.folder import Folder

    return Folder(data, size or 64)


def _made(name: str, data: Data) -> nn.Module:
    if name in ("resnet18", "resnet50"):
        from artery.runner.models.resnet import ResNet

        return ResNet(name, data.classes)
    if name == "transformer":
        from artery.runner.models.transformer import ImageTransformer, TextTransformer

        if data.kind == "text":
            return TextTransformer(data.classes, data.size)
        return ImageTransformer(data.size, data.classes)
    return factory.make(name, data.classes, data.size)


def _batches(samples: int) -> Iterator[Tensor]:
    for start in range(0, samples, _TEST_BATCH):
        yield torch.arange(start, min(start + _TEST_BATCH, samples))


def _misfit(found: str, rule: str, fix: str) -> InputError:
    return InputError(Problem(field="data", found=found, rule=rule, fix=fix))
