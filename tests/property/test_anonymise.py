"""Whatever things are called, ``--anonymise`` lets no name through, and masks it alike everywhere."""

# ruff: noqa: E501 (lines as tools print them)
from __future__ import annotations

import json
import string
import tempfile
from dataclasses import asdict
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from artery.answers.lint import lint
from artery.answers.read import read

SACCT = """JobID|JobName|User|Account|Cluster|Partition|State|Elapsed|ExitCode|NodeList|AllocTRES|WorkDir
900|$job|$user|$account|$cluster|$partition|COMPLETED|01:00:00|0:0|$host[01-02]|gres/gpu=16|/home/$user/$job
901|$job|$user|$account|$cluster|$partition|FAILED|01:00:00|1:0|${host}03|gres/gpu=8|/data/$account/$job
"""
SINFO = """PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST
$partition*  up 2-00:00:00      2  drain $host[01-02]
gpu   up 2-00:00:00      2  idle $host[03-04]
"""
JOB = """JobId=77 JobName=$job
   UserId=$user(1001) GroupId=$account(1002) MCS_label=N/A
   Account=$account QOS=normal JobState=RUNNING Reason=None
   NumNodes=2 NumCPUs=16 NodeList=$host[01-02] BatchHost=${host}01
   Partition=$partition AllocNode:Sid=${host}99:1234
   TRES=cpu=16,node=2,gres/gpu=16
   Command=/home/$user/$job/run.sh
   WorkDir=/data/$account/$job
   MailUser=$user@$site.example MailType=END
"""
NODES = """apiVersion: v1
kind: List
items:
- kind: Node
  metadata:
    name: ${host}7
    labels:
      nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3
      topology.kubernetes.io/zone: $zone
      kubernetes.io/hostname: ${host}7.$site.example
      fabric.topograph.run/tier-0: $switch
      accelerator.topograph.run/domain: $domain
  spec: {providerID: "gce://$account/$zone/${host}7"}
  status:
    capacity: {nvidia.com/gpu: "8"}
    allocatable: {nvidia.com/gpu: "7"}
    addresses: [{type: InternalIP, address: "$ipv6"}]
"""
PODS = """apiVersion: v1
kind: List
items:
- kind: Pod
  metadata: {name: $pod, namespace: $namespace}
  spec: {nodeName: ${host}7, containers: [{name: train, image: reg.$site.example/ml/$job}]}
  status: {phase: Failed, reason: Evicted, message: "${host}7 was low on memory for $namespace"}
- kind: Event
  involvedObject: {kind: Pod, name: $pod, namespace: $namespace}
  reason: FailedScheduling
  message: "0/5 nodes are available for $namespace/$pod"
"""
NCCL = """${host}1:101:202 [0] NCCL INFO NCCL_TOPO_FILE set by environment to /opt/$account/topo.xml
${host}1:101:202 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB bond0:$ipv6%bond0<0>
${host}2:101:202 [0] NCCL WARN Call to connect to $ipv6<4242> failed : refused by ${host}3.$site.example
${host}2:101:202 [0] NCCL INFO comm 0x7f rank 1 nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0
"""
TORCHRUN = """[rank1]: RuntimeError: cannot open /data/$account/$job.bin for $user@$site.example on ${host}3.$site.example
E1130 11:12:09.188 1 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 1 (pid: 77) of binary: /home/$user/venv/bin/python
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
Root Cause (first observed failure):
[0]:
  host      : ${host}3.$site.example
  rank      : 1 (local_rank: 1)
  exitcode  : 1 (pid: 77)
"""
TOPOLOGY = """SwitchName=${switch}1 Nodes=$host[01-02]
SwitchName=${switch}2 Nodes=$host[03-04]
SwitchName=${switch}9 Switches=$switch[1-2]
"""
FABRIC = """vendid=0x2c9
devid=0xd2f2
sysimgguid=0x$guid
switchguid=0x$guid($guid)
Switch 4 "S-$guid"  # "$switch" enhanced port 0 lid 2 lmc 0
[1] "H-506b4b0300c2f4a1"[1](506b4b0300c2f4a1)  # "${host}1 mlx5_0" lid 3 4xHDR

vendid=0x2c9
devid=0x101b
sysimgguid=0x506b4b0300c2f4a1
caguid=0x506b4b0300c2f4a1
Ca 1 "H-506b4b0300c2f4a1"  # "${host}1 mlx5_0"
[1](506b4b0300c2f4a1)  "S-$guid"[1]  # lid 3 lmc 0 "$switch" lid 2 4xHDR
"""
FILES = {
    "sacct": SACCT, "sinfo": SINFO, "job": JOB, "nodes": NODES, "pods": PODS, "nccl": NCCL,
    "torchrun": TORCHRUN, "topology": TOPOLOGY, "fabric": FABRIC,
}  # fmt: skip
SCRIPT = """#!/bin/bash
#SBATCH --job-name=$job
#SBATCH --nodes=2
#SBATCH --partition=$partition
#SBATCH --account=$account
#SBATCH --mail-user=$user@$site.example
export MASTER_ADDR=${host}1
export NCCL_P2P_DISABLE=1
torchrun --nnodes=2 --standalone --rdzv-id=$job --rdzv-endpoint=${host}1:29500 /home/$user/$job/t.py
"""

SLOTS = ("job", "user", "account", "cluster", "partition", "host", "site", "zone", "switch",
         "domain", "pod", "namespace")  # fmt: skip
WORD = st.from_regex(r"q[a-z]{3,7}-?[bcdfgxz]{2,5}", fullmatch=True)


@st.composite
def secrets(draw: st.DrawFn) -> dict[str, str]:
    words = draw(st.lists(WORD, min_size=len(SLOTS), max_size=len(SLOTS), unique=True))
    found = dict(zip(SLOTS, words, strict=True))
    tail = draw(st.integers(0x1000, 0xFFFF))
    found["ipv6"] = draw(st.sampled_from(["2001:db8::", "fd00:aa:bb::", "fe80::"])) + f"{tail:x}"
    found["guid"] = f"{draw(st.integers(2**60, 2**64 - 1)):016x}"
    return found


def written(folder: Path, names: dict[str, str]) -> list[str]:
    paths = []
    for name, text in FILES.items():
        path = folder / f"{name}.txt"
        path.write_text(string.Template(text).substitute(names))
        paths.append(str(path))
    return paths


@settings(max_examples=5, deadline=None)
@given(names=secrets())
def test_no_name_survives_reading(names: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = written(Path(folder), names)
        answer = read(*paths, anonymise=True)
        plain = read(*paths)
    told = json.dumps(asdict(answer), default=str)
    assert [one.format for one in answer.files] == [one.format for one in plain.files]
    assert not [name for name in names.values() if name in told]
    assert folder not in told
    assert "sacct.txt" in told


@settings(max_examples=5, deadline=None)
@given(names=secrets())
def test_the_same_name_has_the_same_mask_in_all_files(names: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        answer = read(*written(Path(folder), names), anonymise=True)
    files = {Path(one.path).stem: one.fields for one in answer.files}
    jobs = {job["partition"] for job in files["sacct"]["jobs"]}
    assert jobs == {files["sinfo"]["partitions"][0]}
    (pod,) = files["pods"]["pods"]
    assert pod["node"] == files["nodes"]["nodes"][0]["name"]


@settings(max_examples=5, deadline=None)
@given(names=secrets())
def test_no_name_survives_lint(names: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.sh"
        path.write_text(string.Template(SCRIPT).substitute(names))
        answer = lint(str(path), anonymise=True)
    told = repr([(one.file, one.line, one.text) for one in answer.findings])
    assert answer.findings
    assert not [name for name in names.values() if name in told]
