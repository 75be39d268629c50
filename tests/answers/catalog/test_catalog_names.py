"""A name of the catalog stays one, whatever files and folders lie in the current folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.answers.models import workload
from artery.answers.systems import is_foreign, system_of
from artery.errors import InputError


@pytest.mark.parametrize("name", ["dgx-h100", "DGX-H100", "h100-sxm"])
def test_a_file_called_like_a_system_or_chip_does_not_take_its_place(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meant = system_of(name)
    monkeypatch.chdir(tmp_path)
    Path(name).write_text("nothing that describes a system\n")
    found = system_of(name)
    assert (found.name, found.chips, found.chip) == (meant.name, meant.chips, meant.chip)
    assert not is_foreign(name)
    assert is_foreign(f"./{name}")
    with pytest.raises(InputError):
        system_of(f"./{name}")


@pytest.mark.parametrize("file", ["dgx-h100", "dgx-h100:16"])
def test_nor_with_a_number_of_chips(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(file).write_text("")
    assert system_of("dgx-h100:16").chips == 16


def test_a_folder_called_like_a_model_does_not_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meant = workload("llama3-8b")
    monkeypatch.chdir(tmp_path)
    Path("llama3-8b").mkdir()
    assert workload("llama3-8b") == meant
    with pytest.raises(InputError, match=r"config\.json"):
        workload("./llama3-8b")
