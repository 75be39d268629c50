"""What ``--anonymise`` takes away, format by format, and what it leaves."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from artery.answers.anonymise import Mask
from artery.answers.diagnose import diagnose
from artery.answers.read import FileRead, read

FIXTURES = Path(__file__).parents[1] / "fixtures"
NODE = """NodeName=gpu01 Arch=x86_64 CoresPerSocket=32
   CPUAlloc=0 CPUEfctv=64 CPUTot=64 CPULoad=0.5
   Gres=gpu:h100:8
   NodeAddr=gpu01 NodeHostName=gpu01 Version=23.02
   RealMemory=1000000 AllocMem=0 FreeMem=900000 Sockets=2 Boards=1
   State=DOWN+DRAIN ThreadsPerCore=1
   Partitions=gpu
   Reason=bad gpu, see gpu01-ib0 [alice@2024-01-01T00:00:00]
"""
KUBERNETES = """apiVersion: v1
kind: Node
metadata:
  name: worker-7
  labels: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
status:
  capacity: {nvidia.com/gpu: "8", cpu: "96", memory: 1000Gi}
  allocatable: {nvidia.com/gpu: "8"}
  conditions: [{type: Ready, status: "False"}]
"""
OPENB = """sn,cpu_milli,memory_mib,gpu,model
openb-node-0000,96000,393216,8,V100M32
openb-node-0001,64000,262144,2,P100
"""
COUNTERS = """Errors for "leaf01"
   GUID 0x506b4b0300c2f4a0 port 5: [SymbolErrorCounter == 42] [LinkDownedCounter == 3]
Errors for "gpu01 mlx5_0"
   GUID 0x506b4b0300c2f4a1 port 1: [SymbolErrorCounter == 7]
"""
SACCT = """JobID|JobName|Partition|State|Elapsed|ExitCode
900|secret-llm|train|COMPLETED|01:00:00|0:0
901|train|train|FAILED|01:00:00|1:0
"""


def masked(tmp_path: Path, name: str, text: str) -> FileRead:
    path = tmp_path / name
    path.write_text(text)
    (one,) = read(str(path), anonymise=True).files
    return one


@pytest.mark.parametrize(
    ("name", "text", "secrets", "kept"),
    [
        ("node.txt", NODE, ["gpu01", "alice"], ["host1", "[user1@2024-01-01T00:00:00]", "h100"]),
        ("node.yaml", KUBERNETES, ["worker-7"], ["host1", "H100"]),
        ("nodes.csv", OPENB, ["openb-node"], ["host1", "host2", "V100M32"]),
        ("ibs.txt", COUNTERS, ["leaf01", "gpu01"], ["device1 port 5", "SymbolErrorCounter"]),
        ("sacct.txt", SACCT, ["secret-llm"], ["job1", "'partition': 'train'"]),
    ],
)
def test_names_go_and_the_rest_stays(
    tmp_path: Path, name: str, text: str, secrets: list[str], kept: list[str]
) -> None:
    one = masked(tmp_path, name, text)
    told = repr((one.summary, one.warnings, one.ignored, one.fields))
    assert not [secret for secret in secrets if secret in told]
    assert not [word for word in kept if word not in told]


def test_diagnose_masks_the_switches_of_a_fabric() -> None:
    folder = files("artery.answers.demo").joinpath("files")
    fabric = str(folder.joinpath("ibnetdiscover.txt"))
    assert "spine03" in repr(diagnose(fabric, prove=False))
    assert re.search(r"\b(?:spine|leaf|node)\d", repr(diagnose(fabric, anonymise=True))) is None


def test_a_word_that_is_a_jobs_name_is_no_secret_elsewhere() -> None:
    mask = Mask()
    told = {"jobs": [{"name": "state", "state": "FAILED"}, {"name": "run-7", "state": "FAILED"}]}
    mask.learn(told)
    first, second = mask.value(told)["jobs"]
    assert set(first) == {"name", "state"}
    assert {first["name"], second["name"]} == {"job1", "job2"}
    assert mask.text("the state of run-7") == f"the state of {second['name']}"


def test_names_are_cut_where_words_end() -> None:
    mask = Mask()
    mask.learn({"hosts": ["gpu01", "gpu01-a", "rack 3"]})
    assert mask.text("gpu01-a gpu01-b gpu010 xgpu01 gpu01: rack 3.") == (
        "host2 host1-b gpu010 xgpu01 host1: host3."
    )


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("asked", [read, diagnose])
def test_of_the_path_of_a_file_that_was_given_only_its_name_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: Callable[..., object], absolute: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("acme-corp") / "sweep.log"
    path.parent.mkdir()
    path.write_bytes((FIXTURES / "calibrate" / "slower-cloud.log").read_bytes())
    told = repr(asked(str(path.resolve() if absolute else path), anonymise=True))
    assert "acme-corp" not in told
    assert "path1" not in told
    assert "sweep.log" in told


def test_jobs_are_masked_by_number_and_name(tmp_path: Path) -> None:
    path = tmp_path / "sacct.txt"
    path.write_text(
        "JobID|JobName|Partition|State|ExitCode|Elapsed|NNodes|NodeList\n"
        "4953690|mpi-diag|batch|FAILED|255:0|00:00:26|2|node[01515,01517]\n"
        "42|train|batch|FAILED|1:0|00:00:26|2|node[01515,01517]\n",
        "utf-8",
    )
    (found,) = read(str(path), anonymise=True).files
    told = repr(found)
    assert not re.search(r"4953690|mpi-diag|[jJ]ob 42|'42'|'train'", told)
    assert [one["state"] for one in found.fields["jobs"]] == ["FAILED", "FAILED"]
    assert len({one["id"] for one in found.fields["jobs"]}) == 2
    assert all(f"job {one['id']} FAILED" in told for one in found.fields["jobs"])
