"""Models, their parameters counted by hand, and tasks: same seed, same weights, same loss."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from artery.errors import InputError, UnknownNameError
from artery.runner.models.resnet import ResNet
from artery.runner.models.transformer import TextTransformer
from artery.runner.tasks import Supervised, find_task


@pytest.mark.parametrize(
    ("name", "parameters"), [("resnet18", 11_689_512), ("resnet50", 25_557_032)]
)
def test_residual_networks_have_the_published_parameters(name: str, parameters: int) -> None:
    """As torchvision's models of the same names: 11.69 and 25.56 million at 1000 classes."""
    assert sum(one.numel() for one in ResNet(name, 1000).parameters()) == parameters


@pytest.mark.parametrize("name", ["resnet18", "resnet50"])
def test_residual_networks_halve_the_side_five_times(name: str) -> None:
    model = ResNet(name, 7).eval()
    sides = []
    model.blocks.register_forward_hook(lambda _, ins, out: sides.append(tuple(out.shape[2:])))
    with torch.no_grad():
        assert model(torch.zeros(2, 3, 96, 96)).shape == (2, 7)
    assert sides == [(3, 3)]


def test_a_transformer_has_the_parameters_of_its_shape() -> None:
    """Four blocks of 12·w² + 13·w; v·w + v for the head; v·w + l·w below; 2·w for the last norm."""
    w, v, length = 256, 100, 16
    blocks = 4 * (12 * w * w + 13 * w)
    expected = blocks + v * w + v + v * w + length * w + 2 * w
    model = TextTransformer(v, length)
    assert sum(one.numel() for one in model.parameters()) == expected


def test_a_text_transformer_does_not_look_ahead() -> None:
    torch.manual_seed(0)
    model = TextTransformer(50, 12).eval()
    tokens = torch.arange(12).unsqueeze(0)
    changed = tokens.clone()
    changed[0, 8:] = 49
    with torch.no_grad():
        one, two = model(tokens), model(changed)
    assert torch.equal(one[0, :8], two[0, :8])
    assert not torch.equal(one[0, 8:], two[0, 8:])


TASKS = pytest.mark.parametrize(
    "task",
    [
        find_task("resnet18", "digits"),
        find_task("resnet50", "synthetic"),
        find_task("transformer", "synthetic", size=16),
        find_task("transformer", "digits", size=16),
    ],
    ids=lambda task: task.name,
)


@TASKS
def test_a_task_is_the_same_each_time(task: Supervised) -> None:
    torch.manual_seed(123)
    before = torch.random.get_rng_state()
    models = [task.build(7), task.build(7), task.build(8)]
    assert torch.equal(torch.random.get_rng_state(), before)
    weights = [torch.cat([one.flatten() for one in model.parameters()]) for model in models]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    indices = torch.tensor([5, 0, 700, 5])
    losses = []
    for model in models[:2]:
        loss = task.loss(model, indices)
        loss.backward()  # type: ignore[no-untyped-call]
        losses.append((loss.detach(), torch.cat([p.grad.flatten() for p in model.parameters()])))  # type: ignore[union-attr]
    assert torch.equal(losses[0][0], losses[1][0])
    assert torch.equal(losses[0][1], losses[1][1])


def test_the_loss_is_the_mean_over_the_samples() -> None:
    task = find_task("transformer", "synthetic", size=8)
    model = task.build(0)
    with torch.no_grad():
        whole = task.loss(model, torch.tensor([3, 9]))
        parts = [task.loss(model, torch.tensor([one])) for one in (3, 9)]
    assert float(whole) == pytest.approx(float(sum(parts)) / 2, rel=1e-6)


def test_evaluation_leaves_the_model_as_it_was() -> None:
    task = find_task("resnet18", "digits")
    model = task.build(0)
    before = {name: one.clone() for name, one in model.state_dict().items()}
    accuracy = task.evaluate(model)
    assert model.training
    assert all(torch.equal(one, before[name]) for name, one in model.state_dict().items())
    assert 0 <= accuracy <= 0.4  # untrained: about one in ten
    assert find_task("transformer").metric == "loss"


def test_an_untrained_text_model_knows_nothing() -> None:
    """Its loss is about that of a guess among 256 tokens: 5.55 nats."""
    task = find_task("transformer", "synthetic", size=16)
    assert task.evaluate(task.build(0)) == pytest.approx(5.55, abs=0.4)


def factory_file(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "own_model.py").write_text(text, "utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "own_model", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


def test_a_model_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "from torch import nn\n"
        "def small(classes, image_size=8):\n"
        "    return nn.Sequential(nn.Flatten(), nn.Linear(3 * image_size ** 2, classes))\n"
    )
    factory_file(tmp_path, text, monkeypatch)
    task = find_task("own_model:small", "digits", size=8)
    model = task.build(1)
    assert sum(one.numel() for one in model.parameters()) == 3 * 64 * 10 + 10
    assert float(task.loss(model, torch.tensor([0, 1])).detach()) > 0


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("own_model:other", "", "is no function"),
        ("no_such_module:f", "", "cannot be imported (ModuleNotFoundError"),
        ("own_model:f", "def f(:", "cannot be imported (SyntaxError"),
        ("own_model:f", "raise RuntimeError('not today')", "RuntimeError: not today"),
        ("own_model:f", "f = 3", "is no function"),
    ],
)
def test_a_factory_that_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, found: str
) -> None:
    factory_file(tmp_path, text, monkeypatch)
    with pytest.raises(InputError) as caught:
        find_task(name)
    assert found in str(caught.value)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(): return 3", "returns int"),
        ("def f(depth): return None", "missing 1 required positional argument"),
        ("def f(): raise SystemExit(5)", "SystemExit: 5"),
        ("from torch import nn\ndef f(): return nn.Flatten()", "a parameter that learns"),
    ],
)
def test_a_factory_that_makes_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, found: str
) -> None:
    factory_file(tmp_path, text, monkeypatch)
    task = find_task("own_model:f", size=8)
    with pytest.raises(InputError) as caught:
        task.build(0)
    assert found in str(caught.value)


@pytest.mark.parametrize(
    ("layers", "found"),
    [
        ("nn.Linear(7, classes)", "cannot take an input of (2, 3, 8, 8) (RuntimeError: mat1"),
        (
            "nn.Linear(192, classes - 1)",
            "returns (2, 9) for an input of (2, 3, 8, 8), where",
        ),
        ("nn.Linear(192, classes), nn.Unflatten(1, (classes, 1))", "returns (2, 10, 1)"),
    ],
)
def test_a_model_that_cannot_learn_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layers: str, found: str
) -> None:
    body = f"return nn.Sequential(nn.Flatten(), {layers})"
    factory_file(tmp_path, f"from torch import nn\ndef f(classes): {body}", monkeypatch)
    task = find_task("own_model:f", "digits", size=8)
    with pytest.raises(InputError) as caught:
        task.tried(task.build(0))
    assert found in str(caught.value)


def test_models_and_data_that_do_not_fit() -> None:
    with pytest.raises(UnknownNameError, match="resnet18"):
        find_task("resnet81")
    for how in (
        ("resnet18", "synthetic-text", None),
        ("resnet18", "digits", 16),
        ("transformer", "digits", 30),
        ("resnet18", "synthetic", 0),
        ("resnet18", "no/such/folder", None),
    ):
        with pytest.raises(InputError):
            find_task(how[0], how[1], size=how[2])
