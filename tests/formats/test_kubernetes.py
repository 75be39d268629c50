"""Kubernetes nodes and topologies."""

from __future__ import annotations

from artery.formats.k8s.quantities import quantity
from tests.formats.readings import fields, reading, warned


def test_a_node_with_sick_gpus_and_one_that_takes_no_pods() -> None:
    found = reading("k8s-node/two-nodes.json")
    said = found.fields
    assert (said["node_count"], said["gpus"], said["gpus_allocatable"]) == (2, 16, 14)
    assert said["sick"] == ["w1"]
    assert said["chips"] == ["h200"]
    assert said["tiers"] == {"0": {"sw1": 1, "sw2": 1}}
    assert said["domains"] == {"c0ffee.1": 1}
    assert said["nodes"][0]["gpu_memory_bytes"] == 143_771 * 2**20
    assert said["nodes"][0]["memory_bytes"] == 2 * 2**40
    assert warned(found, "w1 can give 6 of its 8 GPUs")
    assert warned(found, "w2 takes no pods (not ready)")


def test_slices_cannot_train_together() -> None:
    found = reading("k8s-node/slices.yaml")
    (node,) = found.fields["nodes"]
    assert (node["mig_profile"], node["replicas"], node["sharing"]) == (
        "3g.40gb",
        2,
        "time-slicing",
    )
    assert node["chip"] is None
    assert warned(found, "no NVLink and no peer-to-peer")
    assert warned(found, "shared (time-slicing, x2)")


def test_kueue() -> None:
    found = reading("k8s-topology/kueue.yaml")
    assert found.fields["levels"] == ["example.org/block", "example.org/rack"]
    assert warned(found, "lowest level is not kubernetes.io/hostname")
    assert warned(found, "topology halls, not in the file")


def test_topograph() -> None:
    found = reading("k8s-topology/topograph.yaml")
    said = found.fields
    assert (said["switches"], said["nodes"], said["block_count"]) == (3, 6, 2)
    assert said["domains"] == ["d1"]
    assert warned(found, "blocks differ")


def test_volcano() -> None:
    said = fields("k8s-topology/volcano.yaml")
    assert [one["enabled"] for one in said["sources"]] == [False, True]
    assert said["types"] == {"t1": ["example.org/tor", "kubernetes.io/hostname"]}


def test_quantities() -> None:
    assert [quantity(one) for one in ("1k", "3Mi", "250m", "x", None)] == [
        1000, 3 * 2**20, 0.25, None, None,
    ]  # fmt: skip
