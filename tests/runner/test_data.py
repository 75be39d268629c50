"""Samples by index: the same each time, training and held-out apart, folders checked."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from PIL import Image

from artery.errors import InputError
from artery.runner.data import Data
from artery.runner.data.digits import Digits
from artery.runner.data.folder import Folder
from artery.runner.data.synthetic import SyntheticImages, SyntheticText


@pytest.mark.parametrize("data", [Digits(16), SyntheticImages(8), SyntheticText(12)])
def test_a_sample_is_the_same_in_any_company(data: Data) -> None:
    inputs, targets = data.train(torch.tensor([4, 9, 2]))
    again, same = data.train(torch.tensor([2, 4]))
    assert torch.equal(again, inputs[[2, 0]])
    assert torch.equal(same, targets[[2, 0]])


@pytest.mark.parametrize("data", [Digits(16), SyntheticImages(8), SyntheticText(200)])
def test_what_is_held_out_is_not_trained_on(data: Data) -> None:
    inputs, _ = data.train(torch.arange(200))
    held, _ = data.test(torch.arange(200))
    seen = {tuple(one.flatten().tolist()) for one in inputs}
    assert not any(tuple(one.flatten().tolist()) in seen for one in held)


def test_digits_are_all_there() -> None:
    """1,797 digits of ten classes (the data set's own description)."""
    data = Digits()
    assert (data.training, data.testing) == (1438, 359)
    images, classes = data.train(torch.arange(data.training))
    held, others = data.test(torch.arange(data.testing))
    assert images.shape[1:] == held.shape[1:] == (3, 32, 32)
    assert (float(images.min()), float(images.max())) == (-1.0, 1.0)
    count = torch.bincount(torch.cat([classes, others]))
    assert count.tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert int(torch.bincount(others).min()) >= 25


def test_synthetic_text_follows_its_chain() -> None:
    """Each token has two followers; the likelier one comes in nine cases of ten."""
    data = SyntheticText(64, classes=32)
    tokens, following = data.train(torch.arange(300))
    assert torch.equal(tokens[:, 1:], following[:, :-1])
    pairs = torch.bincount((tokens * 32 + following).flatten(), minlength=1024).view(32, 32)
    assert (pairs > 0).sum(1).tolist() == [2] * 32
    assert float(pairs.max(1).values.sum() / pairs.sum()) == pytest.approx(0.9, abs=0.01)
    assert data.entropy == pytest.approx(0.3251, abs=1e-4)  # -(0.9 ln 0.9 + 0.1 ln 0.1)


def images(root: Path, classes: dict[str, int], colour: int = 0) -> None:
    for name, number in classes.items():
        (root / name).mkdir(parents=True)
        for index in range(number):
            Image.new("RGB", (10 + index, 8), (index, colour, 255)).save(
                root / name / f"{index:03}.png"
            )


def test_a_folder_of_images(tmp_path: Path) -> None:
    images(tmp_path, {"cat": 10, "dog": 7})
    (tmp_path / "cat" / "notes.txt").write_text("no image", "utf-8")
    (tmp_path / ".cache").mkdir()
    data = Folder(str(tmp_path), 16)
    assert (data.classes, data.training, data.testing) == (2, 8 + 6, 2 + 1)
    inputs, targets = data.train(torch.tensor([0, 8]))
    assert inputs.shape == (2, 3, 16, 16)
    assert targets.tolist() == [0, 1]
    assert inputs[0, :, 0, 0].tolist() == [-1.0, -1.0, 1.0]  # 0, 0 and 255 of 255
    held, classes = data.test(torch.arange(3))
    assert classes.tolist() == [0, 0, 1]
    assert held[0, 0, 0, 0] == pytest.approx(4 / 127.5 - 1)  # every fifth: 004.png


def test_a_folder_that_is_split_already(tmp_path: Path) -> None:
    images(tmp_path / "train", {"cat": 3, "dog": 3})
    images(tmp_path / "test", {"cat": 1, "dog": 2})
    data = Folder(str(tmp_path))
    assert (data.training, data.testing) == (6, 3)


def test_folders_that_are_wrong(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        Folder(str(tmp_path / "none"))
    with pytest.raises(InputError, match="two classes or more"):
        Folder(str(tmp_path))
    images(tmp_path / "few", {"cat": 2, "dog": 2})
    with pytest.raises(InputError, match="4 \\+ 0 images"):
        Folder(str(tmp_path / "few"))
    images(tmp_path / "odd" / "train", {"cat": 2, "dog": 2})
    images(tmp_path / "odd" / "test", {"bird": 2})
    with pytest.raises(InputError, match="bird"):
        Folder(str(tmp_path / "odd"))


def test_all_torn_images_are_named_at_once(tmp_path: Path) -> None:
    images(tmp_path, {"cat": 6, "dog": 6})
    whole = (tmp_path / "cat" / "000.png").read_bytes()
    (tmp_path / "cat" / "000.png").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "dog" / "003.png").write_text("not an image", "utf-8")
    with pytest.raises(InputError) as caught:
        Folder(str(tmp_path))
    assert [Path(str(one.file)).name for one in caught.value.problems] == ["000.png", "003.png"]
