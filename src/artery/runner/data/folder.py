"""Images in folders: ``FOLDER/CLASS/*.png``, or ``FOLDER/train/CLASS`` and ``FOLDER/test/CLASS``.

Without ``train`` and ``test`` every fifth file of each class, in the order of names, is held out.
All files are opened once at the start, so that a torn one is named before training begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal

import torch
from torch import Tensor

from artery.errors import InputError, Problem, Problems
from artery.places import is_folder
from artery.runner.data import HELD_OUT
from artery.runner.extra import needed

_ENDINGS: Final = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".ppm", ".tiff"})
_SHOWN: Final = 20
"""Assumed: problems that are listed before the rest are counted."""

Samples = list[tuple[Path, int]]


class Folder:
    """The images under ``path``, scaled to ``size`` pixels per side; one class per folder."""

    kind: Final[Literal["images", "text"]] = "images"

    def __init__(self, path: str, size: int = 64) -> None:
        self.name = path
        self.size = size
        self._image = needed("PIL.Image", "pillow", "images")
        root = Path(path)
        if not is_folder(root):
            fix = "give a folder with one folder of images per class"
            raise _wrong(path, "no such folder", "data is synthetic, digits or a folder", fix)
        split = all(is_folder(root / part) for part in ("train", "test"))
        self._names = tuple(_folders(root / "train" if split else root))
        if split:
            self._train = list(self._found(root / "train"))
            self._test = list(self._found(root / "test"))
        else:
            found = list(self._found(root))
            self._train, self._test = _parted(found)
        self._check(path)

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self._names)

    @property
    def training(self) -> int:
        """Samples to train on."""
        return len(self._train)

    @property
    def testing(self) -> int:
        """Samples held out."""
        return len(self._test)

    def train(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Return images and classes of training samples."""
        return self._loaded(self._train, indices)

    def test(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Return images and classes of held-out samples."""
        return self._loaded(self._test, indices)

    def _found(self, root: Path) -> Iterator[tuple[Path, int]]:
        for name in _folders(root):
            if name not in self._names:
                rule = "test has no class that train has not"
                raise _wrong(str(root / name), "a class of its own", rule, "add it to train")
            for file in sorted((root / name).iterdir()):
                if file.suffix.casefold() in _ENDINGS:
                    yield file, self._names.index(name)

    def _check(self, path: str) -> None:
        """Raise :class:`InputError` with everything that is wrong with the folder."""
        if self.classes < 2:
            fix = "put the images of each class into a folder of its own"
            raise _wrong(path, f"{self.classes} folders of images", "two classes or more", fix)
        if not self._train or not self._test:
            rule = f"images end in {', '.join(sorted(_ENDINGS))}; some are held out"
            fix = f"give each class {HELD_OUT} images or more"
            raise _wrong(path, f"{self.training} + {self.testing} images", rule, fix)
        broken: list[Problem] = []
        for file, _ in self._train + self._test:
            try:
                self._open(file)
            except (OSError, ValueError, SyntaxError) as error:
                found = str(error).split("\n", 1)[0][:100] or type(error).__name__
                fix = "repair or remove it"
                problem = Problem(file=str(file), found=found, rule="not an image", fix=fix)
                broken.append(problem)
        with Problems() as problems:
            for problem in broken[:_SHOWN]:
                problems.add(problem)
            if len(broken) > _SHOWN:
                rest = f"{len(broken) - _SHOWN} more files"
                problems.add(Problem(file=path, found=rest, rule="not images", fix="the same"))

    def _open(self, file: Path) -> Any:  # noqa: ANN401 - pillow may be absent
        with self._image.open(file) as image:
            return image.convert("RGB").resize((self.size, self.size))

    def _loaded(self, samples: Samples, indices: Tensor) -> tuple[Tensor, Tensor]:
        chosen = [samples[index] for index in indices.tolist()]
        pixels = [
            torch.frombuffer(bytearray(self._open(file).tobytes()), dtype=torch.uint8)
            for file, _ in chosen
        ]
        images = torch.stack(pixels).view(-1, self.size, self.size, 3).permute(0, 3, 1, 2)
        classes = torch.tensor([index for _, index in chosen])
        return images.float().div_(127.5).sub_(1).contiguous(), classes


def _folders(root: Path) -> list[str]:
    return sorted(one.name for one in root.iterdir() if one.is_dir() and one.name[0] != ".")


def _parted(found: Samples) -> tuple[Samples, Samples]:
    """Return training and held-out samples: every fifth of each class is held out."""
    seen: dict[int, int] = {}
    parts: tuple[Samples, Samples] = ([], [])
    for sample in found:
        count = seen[sample[1]] = seen.get(sample[1], 0) + 1
        parts[count % HELD_OUT == 0].append(sample)
    return parts


def _wrong(path: str, found: str, rule: str, fix: str) -> InputError:
    return InputError(Problem(file=path, found=found, rule=rule, fix=fix))
