"""``--from`` and MODEL take the files that people start their runs with."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread

import pytest

from artery.answers.models import workload
from artery.answers.saved import read_plan
from artery.errors import InputError

FIXTURES = Path(__file__).parents[1] / "fixtures"
SCRIPT = str(FIXTURES / "megatron-args" / "launch.sh")
STAGE3 = str(FIXTURES / "deepspeed-config" / "stage3.json")


def test_a_launch_script_gives_model_and_plan() -> None:
    former = read_plan(SCRIPT)
    assert (former.model, former.on) == (SCRIPT, None)
    said = {"tp": 8, "pp": 16, "vpp": 1, "seq": 2048, "global_batch": 1536}
    assert said.items() <= former.options.items()
    assert workload(SCRIPT).depth == 96


def test_a_deepspeed_configuration_names_no_model() -> None:
    former = read_plan(STAGE3)
    assert (former.model, former.on) == (None, None)
    assert former.options["zero"] == 3
    assert former.options["overlap"] == ("dp",)


def test_a_configuration_whose_model_is_not_known(tmp_path: Path) -> None:
    file = tmp_path / "job.toml"
    file.write_text(
        '[model]\nname = "mine"\nflavor = "S"\n[training]\nlocal_batch_size = 1\n', "utf-8"
    )
    with pytest.raises(InputError, match="mine S is not in the catalog"):
        workload(str(file))


def test_a_script_in_a_pipe_is_told_to_be_saved(tmp_path: Path) -> None:
    """Its model would be read a second time, from a pipe that is empty by then."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = (FIXTURES / "megatron-args/launch.sh").read_text("utf-8")
    writer = Thread(target=pipe.write_text, args=(text,))
    writer.start()
    with pytest.raises(InputError, match="save it to a file first"):
        read_plan(str(pipe))
    writer.join()
