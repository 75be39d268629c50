"""Convolutional networks and perceptrons."""

from __future__ import annotations

from artery.catalog import model
from artery.core.workload import Matmul
from artery.workload import CnnShape, MlpShape, Stage, cnn, mlp
from tests.workload.counting import elementwise, macs, matmuls

TINY = CnnShape(
    image=16,
    channels=3,
    classes=10,
    stages=(
        Stage(kind="conv", width=8, kernel=5, stride=2),
        Stage(kind="max_pool", kernel=2, stride=2, padding=0),
        Stage(kind="conv", width=12, groups=2),
    ),
    dense=(20,),
)


def test_a_tiny_network_by_hand() -> None:
    # 16 -> 8 pixels (stride 2, padding 2), pool -> 4, grouped 3x3 stays at 4.
    workload = cnn("tiny", TINY)
    first, second = 3 * 25 * 8, 4 * 9 * 6 * 2
    dense = 12 * 16 * 20, 20 * 10
    assert workload.parameters == first + 8 + second + 12 + dense[0] + 20 + dense[1] + 10
    assert macs(workload) == 8 * 8 * first + 4 * 4 * second + sum(dense)


def test_a_convolution_is_a_product_per_group() -> None:
    _, grouped = list(matmuls(cnn("tiny", TINY)))[1]
    assert grouped == Matmul("convolution 3x3", 4 * 9, 6, "none", "none", 16, 2)


def test_batch_norm_replaces_the_bias() -> None:
    normed = cnn("normed", CnnShape(image=16, classes=10, stages=TINY.stages, batch_norm=True))
    plain = cnn("plain", CnnShape(image=16, classes=10, stages=TINY.stages))
    assert normed.parameters - plain.parameters == 8 + 12
    (norm,) = [op for op in elementwise(normed.layers[0]) if op.name == "batch norm"]
    assert (norm.forward, norm.backward) == (3 * 8 * 64, 5 * 8 * 64)


def test_a_classifier_as_wide_as_a_dense_layer_is_still_the_last() -> None:
    same = cnn("same", CnnShape(image=8, classes=10, stages=TINY.stages[:1], dense=(10,)))
    assert [op.name for op in elementwise(same.last)] == ["loss"]
    assert same.layers[-1].name == "dense 1"


def test_bottlenecks_expand_and_project_once_per_stage() -> None:
    stage = Stage(kind="bottleneck", width=4, count=2, stride=2)
    workload = cnn("res", CnnShape(image=8, classes=2, stages=(stage,), batch_norm=True))
    first = 3 * 4 + 4 * 9 * 4 + 4 * 16 + 3 * 16 + 2 * (4 + 4 + 16 + 16)
    second = 16 * 4 + 4 * 9 * 4 + 4 * 16 + 2 * (4 + 4 + 16)
    pixels = workload.layers[-1].boundary // 16
    assert pixels == 16
    assert workload.parameters == first + second + 16 * 16 * 2 + 2


def test_equal_blocks_are_counted_together() -> None:
    # ResNet-50: stem, pool, a projecting block and its equal followers per stage, and the pool.
    counts = [layer.count for layer in model("resnet50").layers]
    assert counts == [1, 1, 1, 2, 1, 3, 1, 5, 1, 2, 1]


def test_alexnet_crosses_between_its_two_devices_where_the_paper_says() -> None:
    # Krizhevsky et al. 2012, section 3.2: only the third convolution and the dense layers read
    # from both devices.
    workload = model("alexnet")
    crossing = [part.name for part in workload.parts if part.reductions]
    assert crossing == ["conv 384", "dense 1", "dense 2", "dense 3"]
    assert workload.heads == 2  # it was cut in two


def test_perceptron_by_hand() -> None:
    workload = mlp("mlp", MlpShape(widths=(12, 32, 48, 5)))
    assert workload.parameters == 12 * 32 + 32 + 32 * 48 + 48 + 48 * 5 + 5
    assert macs(workload) == 12 * 32 + 32 * 48 + 48 * 5
    assert [part.reductions for part in workload.parts] == [0, 0, 1, 0]
    assert workload.heads == 16
    assert workload.row_kind == "sample"
