"""Runs: launch scripts, configurations, training logs, facts."""

from __future__ import annotations

import re

import pytest

from artery.errors import InputError
from artery.formats.facts.keys import CONDITIONS, FACTS, QUANTITIES
from artery.formats.launch.shell_words import options, variables
from artery.formats.recognise import recognise
from artery.formats.text import Text
from tests.conftest import ROOT
from tests.formats.readings import fields, reading, warned


def test_a_launch_script() -> None:
    """GPT-3: 96 layers of 12288; 50,257 tokens padded to a multiple of 128·8 are 51,200."""
    found = reading("megatron-args/launch.sh")
    assert dict(found.given) == {
        "tp": 8, "pp": 16, "dp": 8, "micro_batch": 1, "global_batch": 1536, "sequence": 2048,
        "vpp": 1, "cp": 1, "recompute": "none", "dtype": "bf16",
        "sequence_parallel": True, "zero": 1, "framework": "megatron-core",
    }  # fmt: skip
    assert found.fields["defaults"] == ["cp", "recompute", "vpp"]
    assert found.workload is not None
    layer = 12 * 12288**2 + 13 * 12288
    assert found.workload.parameters == 96 * layer + (51200 + 2048) * 12288 + 2 * 12288
    assert found.fields["chips"] == 1024
    assert found.fields["missing_facts"] == []


def test_arguments_in_yaml() -> None:
    """Llama 3 8B, whose 8,030,261,248 parameters Meta and Hugging Face state."""
    found = reading("megatron-args/model.yaml")
    assert found.workload is not None
    assert found.workload.parameters == 8_030_261_248
    assert found.given["recompute"] == "selective"
    assert warned(found, "num_attention_heads 32 is not divisible by tp 3")
    assert "dp" not in found.given


def test_printed_arguments() -> None:
    found = reading("megatron-args/printed.txt")
    assert (found.fields["form"], found.given["dp"], found.given["cp"]) == ("printed", 2, 2)
    assert found.given["grad_dtype"] == "fp32"
    assert found.given["overlap"] == ["dp"]
    assert (found.given["recompute"], found.given["sequence_parallel"]) == ("none", False)


def test_degrees_that_do_not_divide_the_chips() -> None:
    script = (
        "torchrun --nnodes 1 --nproc_per_node 8 p.py --num-layers 4 --hidden-size 64 "
        "--num-attention-heads 4 --seq-length 128 --vocab-size 1000 "
        "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 3 --micro-batch-size 1\n"
    )
    found = recognise(Text("r.sh", script))[0].read(Text("r.sh", script))
    assert warned(found, "impossible: 8 chips are not divisible by tp·pp·cp = 6")
    assert warned(found, "num_layers 4 is not divisible by pp 3")


def test_a_degree_that_nobody_sets_leaves_the_rest_open() -> None:
    script = (
        "x --nnodes 2 --nproc_per_node 8 --tensor-model-parallel-size $TP --seq-length 128 "
        "--micro-batch-size 1"
    )
    found = recognise(Text("r.sh", script))[0].read(Text("r.sh", script))
    assert not {"dp", "tp"} & set(found.given)
    assert warned(found, "variables that the file does not set: tensor_model_parallel_size")


def test_words_of_a_shell() -> None:
    script = "A=4\nB=$((A*2))\nC=${D:-6}\nrun --x=$B --y ${C} --flag --z 'two words' # --no 1\n"
    assert options(script) == {"x": "8", "y": "6", "flag": "", "z": "two words"}
    assert variables("export N=${N:-2}\nM=$N\n") == {"N": "2", "M": "2"}


def test_iterations_of_megatron() -> None:
    """The first three reports warm up; of 4.0, 4.0, 4.2, 4.0, 4.0 s the median is 4.0."""
    found = reading("megatron-log/steps.log")
    said = found.fields
    assert (said["dialect"], said["steps"], said["steps_used"]) == ("megatron", 8, 5)
    assert said["step_s"] == pytest.approx(4.0)
    assert said["flop_per_s"] == pytest.approx(410e12)
    assert (said["global_batch"], said["skipped"], said["loss"]) == (256, 1, 9.5)
    (measured,) = found.measurements
    assert (measured.root.name, measured.root.unit) == ("step", "s")
    assert [one.name for one in measured.root.children] == ["flop_per_s_per_chip"]
    assert found.ignored[0].line == 1


def test_steps_of_torchtitan_and_nanogpt() -> None:
    said = fields("megatron-log/titan.log")
    assert (said["dialect"], said["tokens_per_s"], said["per_gpu"]) == ("torchtitan", 6000, True)
    assert said["mfu"] == pytest.approx(0.35)
    assert said["memory_bytes"] == 40 * 2**30
    said = fields("megatron-log/nano.log")
    assert (said["dialect"], said["step_s"]) == ("nanogpt", 0.25)


def test_torchtitan() -> None:
    found = reading("torchtitan-config/llama.toml")
    assert dict(found.given) == {
        "tp": 8, "pp": 1, "cp": 1, "dp": 32, "dp_replicate": 2, "zero": 3,
        "micro_batch": 2, "sequence": 8192,
        "recompute": "full", "dtype": "fp8", "framework": "torchtitan",
    }  # fmt: skip
    assert found.fields["parameters"] == 70_553_706_496
    assert found.fields["missing_facts"] == []


def test_deepspeed() -> None:
    """256 / (4·8) = 8 ranks; stage 3 leaves a rank 16 B / 8 of every parameter."""
    found = reading("deepspeed-config/stage3.json")
    assert found.given["dp"] == 8
    assert (found.given["zero"], found.given["overlap"]) == (3, ["dp"])
    assert found.fields["bytes_per_parameter"] == 2.0
    assert found.fields["auto"] == ["optimizer.params.lr"]
    assert warned(found, "1.5 times the traffic")


def test_a_configuration_of_a_model() -> None:
    """Two layers of 64: q and o 64·64, k and v 64·32, three of 64·128, two norms; 1000 tokens."""
    found = reading("hf-config/tiny.json")
    # 2 layers · 2 heads of keys and of values · 16 wide · 2 bytes
    assert found.fields["kv_bytes_per_token"] == 2 * 2 * 2 * 16 * 2
    layer = 2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 128 + 2 * 64
    assert found.fields["parameters"] == 2 * layer + 2 * 1000 * 64 + 64
    assert found.workload is not None
    assert found.workload.kv_heads == 2


def test_facts() -> None:
    said = fields("facts/cluster.yaml")
    assert said["facts"]["chip"] == "h100-sxm"
    assert said["facts"]["ranks"] == 32
    assert said["facts"]["nic_rate"] == 50e9
    assert said["facts"]["gpu_direct_rdma"] is True
    assert said["curves"] == [
        {"collective": "all_reduce", "ranks": 32, "nodes": 4,
         "points": [{"size_bytes": 8 * 2**30, "busbw_bytes_per_s": 196e9}]}
    ]  # fmt: skip
    assert said["missing_facts"] == []


def test_facts_in_words() -> None:
    found = reading("facts/words.yaml")
    assert found.fields["words"]["hardware"].startswith("eight cards of 24 GB")
    assert found.fields["measured"] == [{"step_time": 0.25, "mfu": 0.12}]
    assert warned(found, "not said: chip")


def test_facts_with_slips_are_all_reported() -> None:
    text = Text("f.yaml", (
        "hardware:\n  chips: h100\n  nic_rate: 50 GB/s\n"
        "software: {gpu_direct_rdma: maybe}\nmeasured:\n  - {busbw: 196}\nworkloads: x\n"
    ))  # fmt: skip
    with pytest.raises(InputError) as caught:
        recognise(text)[0].read(text)
    found = {one.field: one for one in caught.value.problems}
    assert set(found) == {
        "hardware.chips", "hardware.nic_rate", "software.gpu_direct_rdma", "measured.busbw",
        "workloads",
    }  # fmt: skip
    assert "chip" in found["hardware.chips"].fix
    assert "direction" in found["hardware.nic_rate"].rule


@pytest.mark.parametrize("name", ["facts.md", "facts.zh.md"])
def test_the_page_on_facts_explains_every_key_and_its_example_is_read(name: str) -> None:
    page = (ROOT / "docs" / name).read_text("utf-8")
    keys = {key for section in FACTS.values() for key in section} | {*QUANTITIES, *CONDITIONS}
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| `")]
    assert {key for row in rows for key in re.findall(r"`(\w+)`", row[0])} == keys
    assert all(len(row) == 3 and row[1] and row[2].strip(" |") for row in rows)
    example = page.split("```yaml\n")[1].split("```")[0]
    said = recognise(Text("facts.yaml", example))[0].read(Text("facts.yaml", example)).fields
    assert said["missing_facts"] == []
