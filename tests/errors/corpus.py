"""Wrong inputs, each with the exit code, the place and the word of a fix that it must get."""

# ruff: noqa: E501  # one case a line: the file is a table
from __future__ import annotations

from dataclasses import dataclass, field

ON = ("--on", "dgx-h100:8")
MODEL = "llama3-8b"

CHIP = """\
title = "a chip"
vendor = "own"
year = 2026
cores = 100
cache = "50 MiB"
source = "own"
[peaks]
bf16 = "500 TFLOP/s"
[memory]
kind = "HBM3"
capacity = "80 GB"
bandwidth = "3 TB/s"
[ports.pcie]
count = 1
bandwidth = "63 GB/s per direction"
[efficiency]
wave_quantisation = 0.1
memory = 0.8
kernel = "3 us"
[efficiency.matmul]
bf16 = 0.8
[sources]
own = {text = "made up", as_of = "2026", confidence = "assumed"}
"""
"""A chip file that is right; the corpus breaks one line of it at a time."""

CONFIG = """\
{
  "model_type": "llama",
  "hidden_size": 1024,
  "intermediate_size": 4096,
  "num_hidden_layers": 8,
  "num_attention_heads": 16,
  "vocab_size": 32000
}
"""
"""A ``config.json`` that is right."""


@dataclass(frozen=True, slots=True)
class Case:
    """``words`` is the command line; ``{file}`` in it becomes ``content`` on disk.

    ``place`` must stand in the message, so that the reader finds what is wrong, and so must
    ``fix``, a word of what would mend it.
    """

    name: str
    words: tuple[str, ...]
    code: int
    place: str
    fix: str
    file: str = ""
    content: bytes | None = None
    stdin: str = field(default="")


def plan(name: str, *words: str, code: int, place: str, fix: str) -> Case:
    """A case of ``artery plan`` for a good model on a good system."""
    return Case(name, ("plan", MODEL, *ON, *words), code, place, fix)


def chip(name: str, old: str, new: str, *, place: str, fix: str) -> Case:
    """A case of a chip file with ``old`` replaced by ``new``."""
    assert old in CHIP, old
    content = CHIP.replace(old, new).encode()
    return Case(name, ("catalog", "show", "{file}"), 3, place, fix, "chip.toml", content)


def config(name: str, old: str, new: str, *, place: str, fix: str) -> Case:
    """A case of a model configuration with ``old`` replaced by ``new``."""
    assert old in CONFIG, old
    content = CONFIG.replace(old, new).encode()
    return Case(name, ("plan", "{file}", *ON), 3, place, fix, "config.json", content)


def raw(name: str, file: str, content: bytes, *, place: str, fix: str) -> Case:
    """A case of a file that is no configuration at all, given as model or as system."""
    words = ("plan", "{file}", *ON) if file.endswith("json") else ("plan", MODEL, "--on", "{file}")
    return Case(name, words, 3, place, fix, file, content)


NAMES = (
    Case("no such command", ("plna",), 2, "plna", "plan"),
    Case("no model", ("plan",), 2, "MODEL", "--from"),
    Case("no system", ("plan", MODEL), 2, "--on", "--from"),
    Case("unknown model", ("plan", "llama3-406b", *ON), 3, "llama3-406b", "llama3-405b"),
    Case("unknown system", ("plan", MODEL, "--on", "dgx-h101:8"), 3, "dgx-h101", "dgx-h100"),
    Case("unknown chip", ("catalog", "show", "h100-smx"), 3, "h100-smx", "h100-sxm"),
    Case("unknown collective", ("expect", "all_reduse", *ON), 3, "all_reduse", "all_reduce"),
    Case("unknown kind", ("catalog", "schema", "sytem"), 3, "sytem", "system"),
    Case("unknown option", ("plan", MODEL, *ON, "--tpp", "2"), 2, "--tpp", "--tp"),
    plan("unknown framework", "--framework", "megatron", code=3, place="megatron", fix="megatron-2021"),
    plan("unknown dtype", "--dtype", "bf17", code=3, place="bf17", fix="bf16"),
    plan("unknown gradient dtype", "--grad-dtype", "f32", code=3, place="f32", fix="fp32"),
    plan("unknown optimizer", "--optimizer", "adan", code=3, place="adan", fix="adam"),
    plan("unknown recomputation", "--recompute", "some", code=2, place="--recompute", fix="selective"),
    plan("unknown attention", "--attention", "flash9", code=2, place="--attention", fix="flash3"),
    plan("unknown overlap", "--overlap", "dq", code=2, place="--overlap", fix="dp"),
    plan("unknown placement", "--placement", "packd", code=3, place="packd", fix="packed"),
    plan("unknown library version", "--nccl", "9.99", code=3, place="9.99", fix="2.27"),
    plan("a library version in words", "--nccl", "newest", code=3, place="newest", fix="2.27"),
    Case("NCCL where there is none", ("plan", MODEL, "--on", "mi300x-8", "--nccl", "2.21"), 3, "nccl", "leave"),
    Case("unknown algorithm", ("expect", "all_reduce", *ON, "--algorithm", "rign"), 3, "rign", "ring"),
    Case("unknown element type", ("expect", "all_reduce", *ON, "--dtype", "flaot"), 3, "flaot", "float"),
    Case("unknown term", ("explain", MODEL, *ON, "stpe.compute"), 3, "stpe", "step"),
    Case("unknown language of a tour", ("tour", "--lang", "fr"), 2, "--lang", "zh"),
    plan("unknown language", "--lang", "fr", code=2, place="--lang", fix="zh"),
    plan("unknown task", "--task", "sleep", code=2, place="--task", fix="train"),
    plan("unknown override", "--set", "chip.memroy.bandwidth=4 TB/s", code=3, place="memroy", fix="memory"),
)  # fmt: skip

NUMBERS = (
    plan("tp of zero", "--tp", "0", code=2, place="--tp", fix="from 1"),
    plan("negative pp", "--pp", "-1", code=2, place="--pp", fix="from 1"),
    plan("tp of 1e30", "--tp", "1e30", code=2, place="--tp", fix="whole number"),
    plan("tp in words", "--tp", "two", code=2, place="--tp", fix="whole number"),
    plan("a fraction of a micro-batch", "--micro-batch", "1.5", code=2, place="--micro-batch", fix="whole number"),
    plan("NaN global batch", "--global-batch", "nan", code=2, place="--global-batch", fix="whole number"),
    plan("infinite sequence", "--seq", "inf", code=2, place="--seq", fix="whole number"),
    plan("sequence of 1e30", "--seq", "1e30", code=2, place="--seq", fix="whole number"),
    plan("ZeRO 4", "--zero", "4", code=2, place="--zero", fix="3"),
    plan("tokens in an unknown unit", "--tokens", "15X", code=2, place="--tokens", fix="15T"),
    plan("NaN tokens", "--tokens", "nan", code=2, place="--tokens", fix="15T"),
    plan("no tokens", "--tokens", "0", code=2, place="--tokens", fix="15T"),
    plan("negative tokens", "--tokens=-5T", code=2, place="--tokens", fix="15T"),
    plan("no plans to show", "--top", "0", code=2, place="--top", fix="1"),
    Case("zero chips", ("plan", MODEL, "--on", "dgx-h100:0"), 3, "dgx-h100:0", "dgx-h100:64"),
    Case("negative chips", ("plan", MODEL, "--on", "dgx-h100:-8"), 3, "dgx-h100:-8", "dgx-h100:64"),
    Case("1e30 chips", ("plan", MODEL, "--on", "dgx-h100:1e30"), 3, "1e30", "dgx-h100:64"),
    Case("NaN chips", ("plan", MODEL, "--on", "dgx-h100:NaN"), 3, "NaN", "dgx-h100:64"),
    Case("a torus of a switch", ("plan", MODEL, "--on", "dgx-h100:4x4x8"), 3, "4x4x8", "dgx-h100"),
    Case("a flat torus", ("plan", MODEL, "--on", "tpu-v4-pod:4x0x4"), 3, "4x0x4", "4x4x8"),
    Case("negative size", ("expect", "all_reduce", *ON, "--size=-1M"), 3, "-1M", "16G"),
    Case("a size in bits", ("expect", "all_reduce", *ON, "--size", "8Gb"), 3, "8Gb", "16G"),
    Case("sizes that shrink", ("expect", "all_reduce", *ON, "--sizes", "1G:1M:x2"), 3, "sizes", "8:16G:x2"),
    Case("sizes that stand still", ("expect", "all_reduce", *ON, "--sizes", "1M:1G:x1"), 3, "sizes", "8:16G:x2"),
    Case("more chips than a node", ("expect", "all_reduce", *ON, "--chips-per-node", "9"), 3, "9", "8"),
    Case("chips that are no numbers", ("scale", MODEL, *ON, "--chips", "1,8,x"), 2, "--chips", "8"),
    Case("1e30 of a scale", ("scale", MODEL, *ON, "--chips", "1e30"), 2, "--chips", "8"),
    Case("a size of 1e30", ("expect", "all_reduce", *ON, "--size", "1e30"), 3, "1e30", "16G"),
    Case("a NaN size", ("expect", "all_reduce", *ON, "--size", "nan"), 3, "nan", "16G"),
    plan("an override below one", "--set", "node.chips=-3", code=3, place="chips", fix="1"),
    plan("an override of 1e300", "--set", "chip.memory.bandwidth=1e300 TB/s", code=3, place="bandwidth", fix="TB/s"),
    plan("a NaN override", "--set", "chip.memory.bandwidth=nan TB/s", code=3, place="bandwidth", fix="TB/s"),
    plan("a negative override", "--set", "chip.memory.bandwidth=-1 TB/s", code=3, place="bandwidth", fix="TB/s"),
    Case("zero of a scale", ("scale", MODEL, *ON, "--chips", "0,8"), 2, "--chips", "1"),
    Case("a parallel fraction of 2", ("scale", MODEL, *ON, "--parallel-fraction", "2"), 2, "--parallel-fraction", "1"),
)  # fmt: skip

DEGREES = (
    plan("tp that does not divide the chips", "--tp", "3", code=3, place="tp", fix="divide"),
    plan("tp times pp over the chips", "--tp", "4", "--pp", "4", code=3, place="16", fix="8"),
    plan("tp over the chips", "--tp", "16", code=3, place="16", fix="8"),
    plan("a product short of the chips", "--tp", "2", "--pp", "1", "--cp", "1", "--dp", "2", code=3, place="4", fix="8"),
    plan("tp that does not divide the heads", "--tp", "7", code=3, place="7", fix="8"),
    plan("more stages than layers", "--pp", "8", "--vpp", "9", code=3, place="vpp", fix="32"),
    plan("experts of a dense model", "--ep", "4", code=3, place="ep", fix="--ep 1"),
    plan("a batch that does not divide", "--dp", "8", "--global-batch", "12", code=3, place="global", fix="16"),
    plan("replicas without FSDP", "--dp-replicate", "2", "--zero", "1", code=3, place="replicate", fix="--zero 3"),
    plan("a micro-batch over the batch", "--micro-batch", "64", "--global-batch", "32", code=3, place="micro", fix="--"),
    Case("a sequence for an image model", ("plan", "resnet50", *ON, "--seq", "512"), 3, "seq", "leave"),
    Case("a model that fits nowhere", ("plan", "llama3-405b", *ON), 4, "405b", "fit"),
    Case("a plan that does not fit", ("plan", "llama3-70b", *ON, "--dp", "8", "--zero", "0"), 4, "70b", "fit"),
    Case("nothing to override", ("plan", MODEL, *ON, "--set", "foo"), 2, "--set", "PATH=VALUE"),
    Case("an override in bits", ("plan", MODEL, *ON, "--set", "chip.memory.bandwidth=4 Tb"), 3, "bandwidth", "B/s"),
)  # fmt: skip

CHIPS = (
    chip("capacity given as a rate", '"80 GB"', '"80 GB/s"', place="capacity", fix="GB"),
    chip("bandwidth given as an amount", '"3 TB/s"', '"3 TB"', place="bandwidth", fix="B/s"),
    chip("bandwidth without a direction", '"63 GB/s per direction"', '"63 GB/s"', place="bandwidth", fix="per direction"),
    chip("a peak in bytes", '"500 TFLOP/s"', '"500 TB/s"', place="bf16", fix="FLOP/s"),
    chip("a bare number where a unit is due", '"80 GB"', "80", place="capacity", fix="80 GiB"),
    chip("a negative capacity", '"80 GB"', '"-80 GB"', place="capacity", fix="0"),
    chip("no cores", "cores = 100", "cores = 0", place="cores", fix="1"),
    chip("an efficiency above one", "memory = 0.8", "memory = 1.8", place="memory", fix="1"),
    chip("a NaN efficiency", "bf16 = 0.8", "bf16 = nan", place="bf16", fix="0.8"),
    chip("a year of 1e30", "year = 2026", "year = 1e30", place="year", fix="year"),
    chip("a list for a text", 'vendor = "own"', 'vendor = ["own", 1, 2]', place="vendor", fix="text"),
    chip("a misspelt field", "cores = 100", "coers = 100", place="coers", fix="cores"),
    chip("a field left out", 'cache = "50 MiB"\n', "", place="cache", fix="cache"),
    chip("a source that is not there", 'source = "own"', 'source = "owm"', place="owm", fix="own"),
    chip("a key given twice", "cores = 100", "cores = 100\ncores = 90", place="chip.toml:5", fix="once"),
    chip("an open bracket", "[peaks]", "[peaks", place="chip.toml:7", fix="]"),
)  # fmt: skip

CONFIGS = (
    config("negative width", "1024", "-1024", place="hidden_size", fix="from 1"),
    config("zero layers", ": 8,", ": 0,", place="num_hidden_layers", fix="from 1"),
    config("a vocabulary of 1e30", "32000", "1e30", place="vocab_size", fix="1,000,000,000"),
    config("a width in words", "4096", '"wide"', place="intermediate_size", fix="whole number"),
    config("heads that do not divide", "16", "15", place="num_attention_heads", fix="divide"),
    config("NaN heads", "16", "NaN", place="num_attention_heads", fix="number"),
    config("a fraction of a layer", ": 8,", ": 8.5,", place="num_hidden_layers", fix="whole number"),
    config("a null width", "1024", "null", place="hidden_size", fix="hidden_size"),
    config("an unknown architecture", '"llama"', '"lama"', place="model_type", fix="llama"),
    config("a missing comma", "1024,", "1024", place="config.json:4", fix="comma"),
    config("a width left out", '  "hidden_size": 1024,\n', "", place="hidden_size", fix="hidden_size"),
    config("a configuration key given twice", '"vocab_size"', '"hidden_size": 8,\n  "vocab_size"', place="hidden_size", fix="once"),
    config("true for a number", "32000", "true", place="vocab_size", fix="whole number"),
)  # fmt: skip

FILES = (
    raw("an empty configuration", "config.json", b"", place="config.json", fix="content"),
    raw("a list for a configuration", "config.json", b"[1, 2]", place="config.json:1", fix="{"),
    raw("a weight file for a configuration", "config.json", b"\x80\x02\xff\x00", place="config.json", fix="text"),
    raw("half a configuration", "config.json", b'{"model_type": "llama"', place="config.json:1", fix="comma"),
    raw("an empty system", "own.toml", b"", place="own.toml", fix="schema"),
    raw("a binary system", "own.toml", b"\x00\x01\xff\xfe", place="own.toml", fix="UTF-8"),
    raw("broken YAML", "own.yaml", b"node: [1\n", place="own.yaml:2", fix="YAML"),
    raw("tabs in YAML", "own.yaml", b"node:\n\tchips: 8\n", place="own.yaml:2", fix="YAML"),
    raw("a YAML key given twice", "own.yaml", b"node: 1\nnode: 2\n", place="own.yaml:2", fix="once"),
    raw("a YAML list for a system", "own.yaml", b"- 1\n- 2\n", place="own.yaml", fix="schema"),
    raw("a system that says nothing", "own.toml", b'title = "x"\n', place="own.toml", fix="chip"),
    Case("a file that is not there", ("plan", "./nowhere.json", *ON), 3, "nowhere.json", "path"),
    Case("a system that is not there", ("plan", MODEL, "--on", "./nowhere.toml"), 3, "nowhere.toml", "path"),
    Case("a folder for a system", ("plan", MODEL, "--on", "{folder}"), 3, "{folder}", "file"),
    Case("a folder without a configuration", ("plan", "{folder}", *ON), 3, "config.json", "path"),
    Case("empty standard input", ("plan", "-", *ON), 3, "1:1", "content"),
    Case("prose on standard input", ("plan", "-", *ON), 3, "1:1", "JSON", stdin="hello"),
    Case("a former answer that is none", ("plan", "--from", "{file}"), 3, "plan.json", "plan", "plan.json", b"{}"),
    Case("half a former answer", ("plan", "--from", "{file}"), 3, "plan.json:1", "JSON", "plan.json", b'{"schema": "artery.plan/1"'),
    Case("a former answer of another command", ("plan", "--from", "{file}"), 3, "plan.json", "plan", "plan.json", b'{"schema": "artery.expect/1"}'),
    Case("a placement in words", ("plan", MODEL, *ON, "--placement", "{file}"), 3, "ranks.txt", "whole number", "ranks.txt", b"zero one"),
    Case("a placement that repeats", ("plan", MODEL, *ON, "--placement", "{file}"), 3, "ranks.txt", "once", "ranks.txt", b"0 0 1 2 3 4 5 6"),
    Case("a trace into a folder", ("plan", MODEL, *ON, "--trace", "{folder}"), 3, "{folder}", "file"),
    Case("an answer into a folder", ("plan", MODEL, *ON, "-o", "{folder}"), 3, "{folder}", "file"),
)  # fmt: skip

CASES = (*NAMES, *NUMBERS, *DEGREES, *CHIPS, *CONFIGS, *FILES)
