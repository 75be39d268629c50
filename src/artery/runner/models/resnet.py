"""ResNet-18 and ResNet-50, as He et al. 2015 (arXiv 1512.03385, Table 1) give them.

The stride of a bottleneck is in its 3x3 convolution (the variant known as v1.5, which published
training times mean). With 1000 classes there are exactly 11,689,512 and 25,557,032 parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torch import Tensor, nn
from torch.nn import functional

DEPTHS: Final = {"resnet18": (2, 2, 2, 2), "resnet50": (3, 4, 6, 3)}
"""Blocks per stage."""

WIDTHS: Final = (64, 128, 256, 512)


class Block(nn.Module):
    """A residual block: two 3x3 convolutions, or 1x1, 3x3, 1x1 with ``expansion`` 4."""

    def __init__(self, inputs: int, width: int, stride: int, expansion: int) -> None:
        super().__init__()
        outputs = width * expansion
        if expansion == 1:
            shape = [(inputs, width, 3, stride), (width, outputs, 3, 1)]
        else:
            shape = [(inputs, width, 1, 1), (width, width, 3, stride), (width, outputs, 1, 1)]
        self.convolutions = nn.ModuleList(_convolution(*one) for one in shape)
        self.norms = nn.ModuleList(nn.BatchNorm2d(one[1]) for one in shape)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                _convolution(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's output for a batch of feature maps."""
        kept: Tensor = self.shortcut(x)
        last = len(self.norms) - 1
        for index, (convolution, norm) in enumerate(
            zip(self.convolutions, self.norms, strict=True)
        ):
            x = norm(convolution(x))
            if index < last:
                x = functional.relu(x, inplace=True)
        return functional.relu(x + kept, inplace=True)


class ResNet(nn.Module):
    """A residual network for images of three channels and any side from 32 pixels up."""

    def __init__(self, name: str, classes: int) -> None:
        super().__init__()
        expansion = 4 if name == "resnet50" else 1
        self.stem = _convolution(3, WIDTHS[0], 7, 2)
        self.norm = nn.BatchNorm2d(WIDTHS[0])
        self.blocks = nn.Sequential(*_blocks(DEPTHS[name], expansion))
        self.head = nn.Linear(WIDTHS[-1] * expansion, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x: Tensor) -> Tensor:
        """Return logits of the classes for images (batch, 3, side, side)."""
        x = functional.relu(self.norm(self.stem(x)), inplace=True)
        x = self.blocks(functional.max_pool2d(x, 3, 2, 1))
        logits: Tensor = self.head(x.mean((2, 3)))
        return logits


def _blocks(depths: tuple[int, ...], expansion: int) -> Iterator[Block]:
    inputs = WIDTHS[0]
    for stage, (depth, width) in enumerate(zip(depths, WIDTHS, strict=True)):
        for index in range(depth):
            yield Block(inputs, width, 2 if stage and not index else 1, expansion)
            inputs = width * expansion


def _convolution(inputs: int, outputs: int, kernel: int, stride: int) -> nn.Conv2d:
    """Return a convolution that keeps the map's size at stride 1; the norm after it shifts."""
    return nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
