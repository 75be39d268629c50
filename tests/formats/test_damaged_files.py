"""Damaged files of clusters, jobs and runs: a reading or an ``InputError``, quickly, never more."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from artery.errors import InputError
from artery.formats.recognise import formats, recognise
from artery.formats.text import Text, clean, decoded
from tests.formats.readings import FIXTURES

NAMES = (
    "ibnetdiscover", "iblinkinfo", "ibstat", "lldp", "cable-plan", "slurm-topology",
    "slurm-sinfo", "slurm-scontrol", "slurm-sacct", "k8s-node", "k8s-topology", "torchrun",
    "jobtrace-openb", "jobtrace-helios", "jobtrace-acme", "jobtrace-philly", "jobtrace-artery",
    "jobtrace-aws-spot", "astra-sim", "simai",
    "megatron-args", "megatron-log", "torchtitan-config", "deepspeed-config", "facts", "hf-config",
)  # fmt: skip
FILES = sorted(path for name in NAMES for path in (FIXTURES / name).iterdir())
READERS = {one.name: one for one in formats()}
HUGE = ("9" * 30, "1e999", "-1", "nan", "0", "9" * 5000, "1" + "0" * 17)


def mutate(content: bytes, draw: st.DrawFn) -> bytes:
    """Cut, swap, double or spoil: what happens to files on their way."""
    how = draw(st.sampled_from(["cut", "swap", "double", "bytes", "number", "drop"]))
    lines = content.split(b"\n")
    one, other = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    if how == "cut":
        return content[: draw(st.integers(0, len(content)))]
    if how == "swap":
        lines[one], lines[other] = lines[other], lines[one]
    elif how == "double":
        lines[one:one] = lines[one : one + 3] * 2
    elif how == "drop":
        del lines[one]
    elif how == "bytes":
        at = draw(st.integers(0, len(lines[one])))
        lines[one] = lines[one][:at] + draw(st.binary(max_size=6)) + lines[one][at:]
    else:
        huge = draw(st.sampled_from(HUGE)).encode()
        digits = [at for at in range(len(lines[one])) if lines[one][at : at + 1].isdigit()]
        if digits:
            at = draw(st.sampled_from(digits))
            lines[one] = lines[one][:at] + huge + lines[one][at + 1 :]
    return b"\n".join(lines)


@st.composite
def damaged(draw: st.DrawFn, path: Path) -> bytes:
    content = path.read_bytes()
    for _ in range(draw(st.integers(1, 3))):
        content = mutate(content, draw)
    return content


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
@given(data=st.data())
@settings(max_examples=25)
def test_damage_never_ends_in_a_traceback(path: Path, data: st.DataObject) -> None:
    content = data.draw(damaged(path))
    try:
        text = Text("damaged", clean(decoded("damaged", content)))
        for format_ in {
            one.name: one for one in (*recognise(text), READERS[path.parent.name])
        }.values():
            if format_.name not in NAMES:
                continue
            found = format_.read(text)
            json.dumps(found.fields, allow_nan=False)
    except InputError:
        pass


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("k8s-node", '{"kind": "Node", "x": ' + "[" * 100_000),
        ("facts", "hardware: &a [1]\nsoftware: " + "[" * 3000),
        ("facts", "hardware: {a: &a [x,x,x,x,x,x,x,x,x,x]}\nsoftware:\n"
         + "".join(f"  k{i}: &b{i} [{','.join([f'*{prev}'] * 10)}]\n"
                   for i, prev in enumerate(["a", *(f"b{j}" for j in range(8))]))),
        ("torchtitan-config", "[model]\nflavor = " + "[" * 5000),
        ("slurm-topology", "SwitchName=s Nodes=n[0-99999999999]\n"),
        ("megatron-args", "A=$A$A\nB=$B\n" + "--num-layers $A --hidden-size $B " * 2000),
        ("slurm-sinfo", "NODELIST STATE REASON\n" + "a " * 100_000),
        ("iblinkinfo", "0x1 " + '"' * 100_000),
        ("nvidia-smi-topo", "\tGPU0\tGPU1\tNUMA Affinity\n" + 2 * "GPU0\tNV4\tNV4\t\u00b2\n"),
        ("flight-recorder", '{"entries": [{"profiling_name": "x", "id": ' + "9" * 5000 + "}]}"),
        ("nccl-tests", '{"results": [{"busbw": 1, "size": ' + "9" * 5000 + "}]}"),
        ("nccl-tests", "size_bytes,time_us,algbw,busbw\n1048576,50,20,30\n2097152,80,20,x"),
    ],
    ids=lambda value: value[:20],
)  # fmt: skip
def test_hostile_files_are_refused_or_read(name: str, content: str) -> None:
    with contextlib.suppress(InputError):
        READERS[name].read(Text("hostile", content))
