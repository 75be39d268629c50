"""Lint: each rule on its own two examples, and whole files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from artery.answers.lint import LintAnswer, check_limits, lint
from artery.cli import main
from artery.diagnoser.lint.rule import LEVELS, Rule, rules
from artery.errors import InputError, ThresholdError, UnknownNameError
from artery.formats.launch.files import launch_of
from artery.formats.text import Text

FILES = Path(__file__).parent.parent / "fixtures" / "lint"


def places(found: LintAnswer) -> set[tuple[str, int]]:
    return {(one.rule.id, one.line) for one in found.findings}


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_a_rule_finds_its_bad_example_and_lets_the_good_one_pass(rule: Rule) -> None:
    assert list(rule.broken(launch_of(Text("fails", rule.fails))))
    assert not list(rule.broken(launch_of(Text("passes", rule.passes))))


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_a_rule_says_why_and_what_to_do(rule: Rule) -> None:
    assert rule.level in LEVELS
    assert all((rule.en, rule.zh, rule.why, rule.fix, rule.reference))


def test_a_script_is_read_with_lines_variables_and_continued_commands() -> None:
    found = places(lint(str(FILES / "train.sbatch")))
    # -N 4 is --nodes=4 on line 3; the command of lines 12 to 15 counts as line 12.
    assert {
        ("debug-left-on", 9), ("rendezvous-loopback", 12), ("no-signal", 3),
        ("log-overwritten", 7), ("bad-exit-ignored", 12), ("flight-recorder-off", 12),
    } <= found  # fmt: skip
    named = {rule for rule, _ in found}
    assert not named & {"cpus-not-inherited", "no-requeue", "launchers-multiplied",
                        "interface-missing", "rendezvous-shared", "rendezvous-missing"}  # fmt: skip


def test_a_manifest_is_read_down_to_the_script_in_its_arguments() -> None:
    found = places(lint(str(FILES / "jobset.yaml")))
    assert {
        ("gang-restarts-alone", 16), ("p2p-disabled", 21), ("algorithm-pinned", 26),
        ("node-rank-fixed", 27), ("backoff-limit", 11), ("rdma-memlock", 17),
        ("shared-memory-missing", 17), ("grace-period-short", 17), ("no-gang-scheduling", 2),
    } <= found  # fmt: skip
    assert not {"not-indexed", "completions-differ"} & {rule for rule, _ in found}


def test_findings_are_sorted_worst_first() -> None:
    levels = [LEVELS.index(one.rule.level) for one in lint(str(FILES / "jobset.yaml")).findings]
    assert levels == sorted(levels)


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("mpirun -np 16 -x NCCL_IB_DISABLE=1 ./all_reduce_perf", "ib-disabled"),
        ("srun --export=ALL,NCCL_ALGO=Tree python train.py", "algorithm-pinned"),
        ("env NCCL_SHM_DISABLE=1 torchrun --nproc_per_node 8 t.py", "shm-disabled"),
        ("bash -c 'export NCCL_DEBUG=TRACE && python train.py'", "debug-left-on"),
        ("python3 -m torch.distributed.run --nnodes 2 --standalone t.py", "rendezvous-missing"),
        (
            'srun bash -c "torchrun --nnodes 2 --rdzv_endpoint 127.0.0.1 t.py"',
            "rendezvous-loopback",
        ),
        (
            "torchrun --rdzv-conf=last_call_timeout=900,join_timeout=600 --nnodes=1:2 t.py",
            "timeouts-order",
        ),
    ],
)
def test_settings_are_found_wherever_they_stand(line: str, rule: str) -> None:
    file = launch_of(Text("line", f"#!/bin/bash\n{line}\n"))
    assert [one for one in rules() if one.id == rule and list(one.broken(file))]


@pytest.mark.parametrize(
    "line",
    [
        "# export NCCL_P2P_DISABLE=1",
        "export NCCL_SOCKET_IFNAME=^lo,docker0",
        "echo NCCL_P2P_DISABLE=1",
        "export NCCL_IB_TIMEOUT=22",
    ],
)
def test_what_is_fine_is_left_alone(line: str) -> None:
    file = launch_of(Text("line", f"#!/bin/bash\n{line}\npython train.py\n"))
    assert not [rule.id for rule in rules() if list(rule.broken(file))]


def test_a_rule_can_be_left_out_and_an_unknown_one_is_answered_with_the_nearest() -> None:
    path = str(FILES / "train.sbatch")
    assert "no-signal" not in {one.rule.id for one in lint(path, ignore=["no-signal"]).findings}
    with pytest.raises(UnknownNameError, match="no-signal"):
        lint(path, ignore=["no-signl"])


def test_limits() -> None:
    found = lint(str(FILES / "train.sbatch"))
    check_limits(found, None, 0.3)
    with pytest.raises(ThresholdError, match="at error or worse"):
        check_limits(found, "error", None)
    with pytest.raises(ThresholdError, match="below 99%"):
        check_limits(found, None, 0.99)
    with pytest.raises(UnknownNameError):
        check_limits(found, "eror", None)


def test_files_that_start_no_job_are_refused_all_at_once(tmp_path: Path) -> None:
    text = tmp_path / "poem.txt"
    text.write_text("a rose is a rose\n")
    broken = tmp_path / "job.yaml"
    broken.write_text("apiVersion: v1\nkind: Pod\nspec: [\n")
    with pytest.raises(InputError) as error:
        lint(str(text), str(broken), str(tmp_path / "none"))
    assert len(error.value.problems) == 3
    with pytest.raises(InputError, match="no file"):
        lint()


def test_hosts_are_masked(tmp_path: Path) -> None:
    path = tmp_path / "job.sh"
    path.write_text("export MASTER_ADDR=gpu-prod-7\ntorchrun --nnodes=2 "
                    "--rdzv-id=1 --rdzv-endpoint=gpu-prod-7:29500 /home/ada/t.py\n")  # fmt: skip
    assert "gpu-prod-7" not in repr(lint(str(path), anonymise=True).findings)


def test_the_command_exits_with_5_where_a_limit_is_broken(
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = str(FILES / "train.sbatch")
    assert main(["lint", path]) == 0
    assert f"{path}:9  warning  debug-left-on" in capsys.readouterr().out
    assert main(["lint", path, "--fail-on", "error"]) == 5
    assert main(["lint", path, "--fail-under", "99%"]) == 5
    assert main(["lint"]) == 2
    assert main(["lint", "--rules", "--lang", "zh"]) == 0
    assert "p2p-disabled" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("export NCCL_IB_DISABLE=1\nunset NCCL_IB_DISABLE\ntorchrun t.py\n", False),
        ("export NCCL_IB_DISABLE=1 && unset NCCL_IB_DISABLE\ntorchrun t.py\n", False),
        ("export NCCL_IB_DISABLE=1\ntorchrun t.py\nunset NCCL_IB_DISABLE\n", True),
        ("unset NCCL_IB_DISABLE\nexport NCCL_IB_DISABLE=1\ntorchrun t.py\n", True),
        ("export NCCL_IB_DISABLE=1\n[ -n $A ] && unset NCCL_IB_DISABLE\ntorchrun t.py\n", True),
    ],
)
def test_a_variable_that_is_taken_back_before_anything_starts_is_not_set(
    script: str, found: bool
) -> None:
    file = launch_of(Text("job", f"#!/bin/bash\n{script}"))
    assert any(one.id == "ib-disabled" and list(one.broken(file)) for one in rules()) is found


@pytest.mark.parametrize(
    ("launch", "found"),
    [
        ("torchrun --nnodes=4 t.py", True),
        ("H=$(srun -N1 hostname)\npython -m torch.distributed.run --nnodes 4 t.py", True),
        ("srun bash -c 'torchrun --nnodes=4 t.py'", False),
        ("for n in $H; do ssh $n torchrun --nnodes=4 t.py & done", False),
        ("cat > run.sh <<EOF\ntorchrun --nnodes=4 t.py\nEOF\nsrun bash run.sh", False),
        ("torchrun --nproc-per-node=8 t.py", False),
    ],
)
def test_a_launcher_without_a_step_starts_on_the_first_node(launch: str, found: bool) -> None:
    file = launch_of(Text("job", f"#!/bin/bash\n#SBATCH --nodes=4\n{launch}\n"))
    rule = next(one for one in rules() if one.id == "first-node-only")
    assert bool(list(rule.broken(file))) is found


def test_findings_alike_are_drawn_once_and_json_has_them_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "nccl.env"
    path.write_text("NCCL_P2P_DISABLE=1\n" * 300)
    assert main(["lint", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.count("p2p-disabled") == 1
    assert "300 times, also on lines 2, 3, 4, 5, 6, ..." in out
    assert main(["lint", str(path), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["findings"]) == 300


def test_ignore_takes_several_names(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(FILES / "train.sbatch")
    assert main(["lint", path, "--ignore", "no-signal, debug-left-on"]) == 0
    out = capsys.readouterr().out
    assert "no-signal" not in out
    assert "debug-left-on" not in out
    assert main(["lint", path, "--ignore", "no-signal,debug-left-no"]) == 3


def broken(name: str, content: str) -> list[str]:
    rule = next(one for one in rules() if one.id == name)
    return [one.text for one in rule.broken(launch_of(Text("file", content)))]


LAUNCH = "torchrun --nnodes=2 --nproc-per-node=8 --rdzv-id=$J --rdzv-endpoint={} t.py\n"
OWN_NAMES = ("$(hostname)", "$(hostname -f):29500", "`hostname`:1", "$HOSTNAME", "${HOSTNAME}:9",
             "$(uname -n)")  # fmt: skip


@pytest.mark.parametrize("name", OWN_NAMES)
def test_the_name_of_each_node_is_no_place_to_meet(name: str) -> None:
    line = LAUNCH.format(name)
    assert broken("rendezvous-loopback", f"#!/bin/bash\n{line}")
    assert broken("rendezvous-loopback", f"#!/bin/bash\nHERE={name}\n{LAUNCH.format('$HERE')}")
    batch = "#!/bin/bash\n#SBATCH --nodes=2\nsrun "
    # The batch shell, on the first node, puts the name in; in quotes each node's shell does.
    assert not broken("rendezvous-loopback", batch + line)
    assert broken("rendezvous-loopback", f"{batch}bash -c '{line.strip()}'\n")


def test_the_first_host_of_the_list_is_a_place_to_meet() -> None:
    head = "HEAD=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n1)\n"
    file = launch_of(Text("file", f"#!/bin/bash\n{head}{LAUNCH.format('$HEAD:29500')}"))
    endpoint = next(file.programs("torchrun")).options["rdzv_endpoint"].value
    assert endpoint == "$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n1):29500"
    assert not broken("rendezvous-loopback", file.content)


def test_the_options_of_a_shell_under_srun_are_not_those_of_srun() -> None:
    script = "#!/bin/bash\n#SBATCH --cpus-per-task=12\nsrun bash -c 'torchrun t.py'\n"
    assert broken("cpus-not-inherited", script)
    assert not broken("cpus-not-inherited", script.replace("srun", "srun -c 12"))


JOB = """apiVersion: batch/v1
kind: Job
metadata: {{name: train}}
spec:
  {}
  template:
    spec:
      restartPolicy: {}
      containers:
      - name: train
        image: train
        command: [torchrun, --nnodes=4, --nproc-per-node=8, t.py]
        resources: {{limits: {{nvidia.com/gpu: {}}}}}
"""


@pytest.mark.parametrize(
    ("spec", "restart", "gpus", "rule"),
    [
        ("parallelism: -4", "Never", "8", "impossible-numbers"),
        ("parallelism: four", "Never", "8", "impossible-numbers"),
        ("backoffLimit: -1", "Never", "8", "impossible-numbers"),
        ("activeDeadlineSeconds: 0", "Never", "8", "impossible-numbers"),
        ("parallelism: 4", "Never", "0", "gpus-not-whole"),
        ("parallelism: 4", "Never", "0.5", "gpus-not-whole"),
        ("parallelism: 4", "Never", "-1", "gpus-not-whole"),
        ("{parallelism: 4, completions: 2, completionMode: Indexed}", "Never", "8",
         "completions-differ"),
        ("backoffLimit: 0", "OnFailure", "8", "retries-contradict"),
        ("backoffLimit: 3", "Always", "8", "retries-contradict"),
        ("backoffLimitPerIndex: 1", "Never", "8", "retries-contradict"),
        ("maxFailedIndexes: 1", "Never", "8", "retries-contradict"),
        ("podFailurePolicy: {rules: []}", "OnFailure", "8", "retries-contradict"),
        ("parallelism: 2", "Never", "8", "nodes-differ"),
        ("parallelism: 4", "Never", "4", "processes-differ"),
    ],
)  # fmt: skip
def test_numbers_of_a_job_that_cannot_be(spec: str, restart: str, gpus: str, rule: str) -> None:
    spec = spec.strip("{}").replace(", ", "\n  ") if spec.startswith("{") else spec
    assert broken(rule, JOB.format(spec, restart, gpus))
    good = "parallelism: 4\n  completions: 4\n  completionMode: Indexed\n  backoffLimit: 0"
    assert not broken(rule, JOB.format(good, "Never", "8"))


@pytest.mark.parametrize(
    ("asked", "launch", "rule", "found"),
    [
        ("--gres=gpu:h100:4", "srun torchrun --nnodes=2 --nproc-per-node=8 t.py",
         "processes-differ", True),
        ("--gres=gpu:8", "srun torchrun --nnodes=2 --nproc-per-node=4 t.py",
         "processes-differ", True),
        ("--gres=gpu:8", "srun torchrun --nnodes=2 --nproc-per-node=gpu t.py",
         "processes-differ", False),
        ("--gpus-per-node=8", "srun torchrun --nnodes=$SLURM_NNODES t.py", "nodes-differ", False),
        ("--gpus-per-node=8", "srun torchrun --nnodes=1:2 t.py", "nodes-differ", False),
        ("--gpus-per-node=8", "srun torchrun --nnodes=1:2 t.py", "elastic-killed", True),
        ("-k", "srun torchrun --nnodes=1:2 t.py", "elastic-killed", False),
    ],
)  # fmt: skip
def test_nodes_and_processes_of_a_batch_script(
    asked: str, launch: str, rule: str, found: bool
) -> None:
    script = f"#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH {asked}\n{launch}\n"
    assert bool(broken(rule, script)) is found


def test_a_service_that_is_scaled_to_nothing_is_fine() -> None:
    manifest = JOB.format("replicas: 0", "Always", "8").replace("batch/v1", "apps/v1")
    assert broken("impossible-numbers", manifest)
    assert not broken("impossible-numbers", manifest.replace("kind: Job", "kind: Deployment"))


SCRIPT = """#!/bin/bash
#SBATCH --nodes=2
cat > note.env <<EOT
NCCL_P2P_DISABLE=1
EOT
bash <<-'RUN'
	export NCCL_SHM_DISABLE=1
	RUN
#SBATCH --requeue
export NCCL_IB_TIMEOUT=99999
export NCCL_SOKET_IFNAME=eth0
export NCCL_IB_GID_INDEX=abc
srun python train.py
"""


@pytest.fixture
def told(tmp_path: Path) -> dict[str, tuple[int, str]]:
    path = tmp_path / "train.sbatch"
    path.write_text(SCRIPT, "utf-8")
    return {one.rule.id: (one.line, one.text) for one in lint(str(path)).findings}


def test_text_that_a_script_writes_to_a_file_is_not_set_and_what_a_shell_is_given_is(
    told: dict[str, tuple[int, str]],
) -> None:
    assert "p2p-disabled" not in told
    assert told["shm-disabled"] == (7, "NCCL_SHM_DISABLE=1")


def test_an_option_below_the_first_command_is_told_and_not_in_force(
    told: dict[str, tuple[int, str]],
) -> None:
    assert told["options-late"] == (9, "#SBATCH --requeue")
    assert told["no-requeue"][0] == 2
    assert "log-overwritten" not in told


def test_a_batch_script_that_is_handed_to_sbatch_has_its_own_first_command(tmp_path: Path) -> None:
    path = tmp_path / "submit.sh"
    path.write_text("module load x\nsbatch <<EOT\n#!/bin/bash\n#SBATCH --nodes=2\nsrun x\nEOT\n")
    found = {one.rule.id for one in lint(str(path)).findings}
    assert "options-late" not in found
    assert "no-requeue" in found


@pytest.mark.parametrize(("line", "said"), [
    ("NCCL_IB_TIMEOUT=99999", "NCCL_IB_TIMEOUT=99999 is not between 0 and 31"),
    ("NCCL_IB_GID_INDEX=abc", "NCCL_IB_GID_INDEX=abc is not a whole number"),
    ("NCCL_IB_SL=16", "NCCL_IB_SL=16 is not between -1 and 15"),
    ("NCCL_SOKET_IFNAME=eth0", "NCCL_SOKET_IFNAME: NCCL_SOCKET_IFNAME?"),
    ("NCCL_DEBGU=WARN", "NCCL_DEBGU: NCCL_DEBUG?"),
])  # fmt: skip
def test_values_and_names_that_cannot_be(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "job.env"
    path.write_text(line + "\n", "utf-8")
    assert [one.text for one in lint(str(path)).findings] == [said]


@pytest.mark.parametrize("line", ["NCCL_IB_GID_INDEX=$INDEX", "NCCL_IB_TC=0x6a",
                                  "NCCL_MY_OWN_NOTE=1", "NCCL_MIN_P2P_NCHANNELS=4"])  # fmt: skip
def test_values_and_names_that_can_be(tmp_path: Path, line: str) -> None:
    path = tmp_path / "job.env"
    path.write_text(line + "\n", "utf-8")
    assert not lint(str(path)).findings
