"""How what ``read`` found is drawn and written."""

from __future__ import annotations

import tomllib
from io import StringIO

from artery.answers.read import FileRead, ReadAnswer
from artery.formats.reading import Ignored
from artery.report.drawing.terminal import draw
from artery.report.read import read_drawing, read_words, system_file

ONE = FileRead(
    path="x.log",
    format="osu",
    kind="measurement",
    summary=("two lines", "of text"),
    warnings=("look out",),
    ignored=(Ignored(3, 1, "noise"), Ignored(5, 4, "more noise")),
    fields={"missing_facts": ["the number of ranks"]},
    is_system=False,
    tested=False,
)


def drawn(language: str) -> list[str]:
    out = StringIO()
    draw(read_drawing(ReadAnswer((ONE,)), "zh" if language == "zh" else "en"), file=out, width=100)
    return out.getvalue().splitlines()


def test_a_file_is_drawn() -> None:
    assert drawn("en") == [
        "x.log  osu (measurement)",
        "  two lines",
        "  of text",
        "  warning  look out",
        "           this reader never met a real file of that format; check what it says",
        "  missing  the number of ranks",
        "  ignored  line 3: noise",
        "           lines 5 to 8: more noise",
    ]


def test_in_chinese() -> None:
    assert drawn("zh")[0] == "x.log  osu (测量)"
    assert "第 5 至 8 行" in drawn("zh")[-1]
    assert read_words("en").keys() == read_words("zh").keys()


def test_a_system_file_is_toml() -> None:
    values = {
        "name": 'a "name"',
        "node": {"chips": 2, "host": {"link": "pcie4x16", "peer_to_peer": False},
                 "cables": [{"ends": ["chip0", "chip1"], "link": "nvlink4"}]},
    }  # fmt: skip
    text = system_file(values, "topo\nkind = 1")
    assert text.startswith("# From topo?kind = 1.\n")
    assert tomllib.loads(text) == values
