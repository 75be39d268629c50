"""Help pages in Chinese: every text of the tree of commands, every page, any order of flags."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import click
import pytest
from rich.cells import cell_len

from artery.cli import main
from artery.cli.commands import COMMANDS, root
from artery.cli.pages import PageContext, first_sentence, paged, subject
from artery.report.said import columns, pages, verbatim

CHINESE = re.compile("[、\u4e00-\u9fff]")
ENGLISH = re.compile(r"\b[A-Za-z]{2,},? [a-z]{2,}\b|\b(?:a|and|by|for|is|not|of|or|the|to|with)\b")
NAMES = re.compile(
    r"`[^`]*`|'[^']*'|\bartery(?: [a-z-]+)*|--?[a-z][a-z-]*|\[[a-z\d|]*\]"
    r"|[a-z-]+(?:\|[a-zA-Z\d:,.-]+)+|local SGD|one-chip does-it-fit .* ten-trillion",
)
"""Commands, flags and what is typed: names in both languages."""
RANGE = re.compile(r"[\d.<=>x]+")
"""What a number may be, in brackets: as it stands."""
WORD = re.compile("[A-Z]{2,}")
"""A word for a value; what is typed as it stands is in small letters."""


def contexts(
    command: click.Command = root, above: click.Context | None = None
) -> Iterator[click.Context]:
    """Yield a context for each command of the tree, as its help page has it."""
    context = PageContext(
        command, info_name=command.name, parent=above,
        **(command.context_settings if above is None else {}),
    )  # fmt: skip
    yield context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from contexts(inner, context)


EVERY = list(contexts())
PATHS = [context.command_path for context in EVERY]


def prose(text: str | None) -> Iterator[str]:
    """Yield the paragraphs of a help text, and the lines of one that is not wrapped."""
    for paragraph in inspect.cleandoc(text or "").split("\n\n"):
        if paragraph.startswith("\b"):
            for line in paragraph.splitlines()[1:]:
                words = line.strip()
                if not re.match(r"artery |\S+ .*\bartery\b|(?:torch|mpi|s)run ", words):
                    yield re.split(r"\s{2,}", words)[-1]
        elif paragraph:
            yield " ".join(paragraph.split())


def english(context: click.Context) -> Iterator[str]:
    """Yield every English text of the page of a command but what stands for values."""
    command = context.command
    yield from prose(command.help)
    yield from prose(command.epilog)
    for parameter in command.get_params(context):
        if isinstance(parameter, click.Option):
            record = parameter.get_help_record(context)
            assert record is not None
            text, _, extra = record[1].rpartition("  [")
            yield " ".join((text or extra).split())
            for word in extra.rstrip("]").split("; ") if text else ():
                if not RANGE.fullmatch(word):
                    name, _, value = word.partition(": ")
                    assert " " not in value, f"no value: {value}"
                    yield name


def metavars(context: click.Context) -> Iterator[str]:
    yield from context.command.collect_usage_pieces(context)
    for parameter in context.command.get_params(context):
        if not getattr(parameter, "is_flag", False):
            yield parameter.make_metavar(context)


def untold(context: click.Context) -> list[str]:
    """Return what the page of a command says in English alone."""
    known = pages.texts(subject(context))
    texts = [one for one in english(context) if not CHINESE.search(known.get(one, ""))]
    typed = [one for one in metavars(context) if WORD.search(pages.told_metavar(one))]
    return [*texts, *typed]


@pytest.mark.parametrize("context", EVERY, ids=PATHS)
def test_every_text_of_a_page_is_known_in_chinese(context: click.Context) -> None:
    assert untold(context) == []


def test_a_text_that_no_table_knows_is_found() -> None:
    """The test above can fail, for each kind of text."""

    @click.command("plan", help="Say how long.\n\n\b\nExamples:\n  artery x\n  a  Lone one.")
    @click.option("--tp", help="Pipeline stages.")
    @click.option("--pp", help="Pipe stages.", metavar="PLACE", default=1, show_default=True)
    @click.argument("thing")
    def command() -> None: ...

    unknown = ["Say how long.", "Lone one.", "Pipe stages."]
    context = PageContext(command, info_name="plan", parent=EVERY[0])
    assert untold(context) == [*unknown, "THING", "TEXT", "PLACE", "THING"]


def tables() -> dict[str, dict[str, str]]:
    folder = files("artery.report.said") / "help"
    return {
        one.name.removesuffix(".toml"): tomllib.loads(one.read_text("utf-8"))
        for one in folder.iterdir()
    }


def met() -> dict[str, set[str]]:
    """Return for every English text the tables of the commands that say it."""
    found: dict[str, set[str]] = defaultdict(set)
    for context in EVERY:
        for text in english(context):
            found[text].add(subject(context))
    for sentence in COMMANDS.values():
        found[sentence].add("commands")
    return found


@pytest.mark.parametrize("path", PATHS)
def test_an_english_page_fits_in_80_columns(
    path: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = page(" ".join(["--lang", "en", *path.split()[1:], "--help"]), capsys).splitlines()
    assert [line for line in lines if len(line) > 80] == []


@pytest.mark.parametrize("line", ["--help", "plan --help", "fabric design --help", "plan -h"])
def test_help_in_a_language_that_there_is_not_is_refused(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = line.split()
    for asked in ([*words, "--lang", "xx"], [*words[:-1], "--lang", "xx", words[-1]]):
        assert main(asked) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert "'xx' is not one of 'en', 'zh'" in said.err


ALONE = "artery tells how long an AI job takes on a set of chips, what holds it back, "
ELSEWHERE = (
    *("Usage:", "Options", "Commands", "All commands: artery --help"),
    ALONE + "what would help.",
)
"""Headings, and what `artery` says alone: tests below look at them."""


def test_no_table_has_a_text_that_no_page_says_any_more() -> None:
    said = met()
    for table, texts in tables().items():
        for text in texts:
            if text in ELSEWHERE:
                continue
            assert text in said, f"{table}.toml: no help text is: {text}"
            if table in COMMANDS or table == "commands":
                assert said[text] == {table}, f"{table}.toml: said by {sorted(said[text])}: {text}"
            else:
                assert len(said[text]) > 1, f"{table}.toml: only {said[text]} says: {text}"


def test_every_text_stands_in_one_table_and_every_command_has_its_own() -> None:
    counted = Counter(text for texts in tables().values() for text in texts)
    assert [text for text, count in counted.items() if count > 1] == []
    assert tables().keys() == {*COMMANDS, *pages.COMMON, "commands"}
    assert all(text == " ".join(text.split()) for text in counted)


def page(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(line.split()) == 0
    return capsys.readouterr().out


EXAMPLES = {
    line.strip()
    for context in EVERY
    for line in inspect.cleandoc(context.command.help or "").splitlines()
    if re.search(r"^  .*\bartery ", line)
}


def is_example(line: str) -> bool:
    return line.startswith("    ") and line.strip() in EXAMPLES


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("terminal", [50, 80, 120])
def test_a_page_is_chinese_and_as_wide_as_the_terminal(
    path: str, terminal: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(terminal))
    words = path.split()[1:]
    lines = page(" ".join(["--lang", "zh", *words, "--help"]), capsys).splitlines()
    assert lines[0].startswith(f"用法：{path}")
    assert "选项：" in lines
    assert all(cell_len(line) <= max(terminal, 80) for line in lines)
    wrapped = [line for line in lines if not is_example(line)]
    for line in wrapped:
        assert cell_len(line) <= terminal or unwrapped(line), line
    if terminal >= 80:  # on a narrower one long names are cut
        rest = NAMES.sub("", re.sub(r"\n +", " ", "\n".join(wrapped)))
        assert ENGLISH.search(rest) is None, rest


def unwrapped(line: str) -> bool:
    """Return whether a line is a flag's name, or one of a block that is not wrapped."""
    alone = line.startswith("  -") and "  " not in line.strip()
    return alone or bool(re.match("    [a-z-]+  ", line))


@pytest.mark.parametrize("path", PATHS)
def test_a_page_has_the_flags_examples_and_commands_of_the_english_one(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = path.split()[1:]
    english_page, chinese = (
        page(" ".join([*words, "--help", *tongue]), capsys)
        for tongue in (["--lang", "en"], ["--lang", "zh"])
    )
    flags = re.compile(r"^  ((?:-\S+|/)(?: (?:-\S+|/))*)|^  ([a-z]+)  ", re.MULTILINE)
    expected = flags.findall(english_page.partition("Options:")[2])
    assert flags.findall(chinese.partition("选项：")[2]) == expected != []
    examples = [
        [line for line in one.splitlines() if is_example(line)] for one in (english_page, chinese)
    ]
    assert examples[0] == examples[1]


@pytest.mark.parametrize(
    "line",
    [
        "--lang zh plan --help",
        "--lang=zh plan -h",
        "--help --lang zh",
        "--lang zh --help",
        "plan --help --lang zh",
        "plan --lang zh --help",
        "plan --lang en --lang zh --help",
        "fabric --help --lang zh",
        "fabric --lang zh design --help",
        "fabric design --help --lang zh",
        "--lang en fabric design --help --lang zh",
    ],
)
def test_the_language_may_stand_anywhere(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert page(line, capsys).startswith("用法：artery")


@pytest.mark.parametrize("line", ["plan --help", "--help", "lab up --help"])
def test_the_locale_gives_the_language_unless_the_line_does(
    line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    assert page(line, capsys).startswith("Usage: artery")
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert page(line, capsys).startswith("用法：artery")
    assert page(f"{line} --lang en", capsys).startswith("Usage: artery")
    assert page(f"--lang en {line}", capsys).startswith("Usage: artery")


def test_what_a_command_of_the_lab_is_given_is_not_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    assert main(["lab", "run", "--name", "no-such-lab", "--", "echo", "--lang", "zh"]) == 3
    assert "is not up" in capsys.readouterr().err


def test_answers_are_in_the_language_given_before_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert CHINESE.search(page("--lang zh catalog list chips", capsys))
    assert not CHINESE.search(page("--lang zh catalog list chips --lang en", capsys))
    assert "什么卡住" in page("--lang zh", capsys)
    assert "全部命令：artery --help" in page("--lang zh", capsys)


@pytest.mark.parametrize("line", ["plan --help --lang zh", "--lang zh fabric check -h"])
def test_chinese_help_loads_nothing_heavy(line: str) -> None:
    script = (
        "import sys; from artery.cli import main; main(sys.argv[1:]); "
        "print([one for one in ('numpy', 'pydantic', 'rich', 'ruamel', 'torch', 'artery.core', "
        "'artery.answers.plan') if one in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *line.split()], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("用法：")
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_tables_of_other_commands_are_not_read() -> None:
    assert "Pipeline stages." in pages.texts("plan")
    assert verbatim("help/bench")
    assert not verbatim("help/bench").keys() & pages.texts("plan").keys()


def test_a_group_lists_whole_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("fabric", "bench", "lab"):
        text = page(f"{name} --help --lang en", capsys)
        group = root.get_command(EVERY[0], name)
        assert isinstance(group, click.Group)
        flat = " ".join(text.split())
        assert all(f"{one.name} {first_sentence(one)}" in flat for one in group.commands.values())
        assert "..." not in text.partition("Commands:")[2]


def test_a_command_and_those_under_it_have_pages() -> None:
    inner = click.Command("inner")
    assert paged(click.Group("outer", commands=[inner])).context_class is PageContext
    assert inner.context_class is PageContext


def sample() -> list[str]:
    return [zh for texts in tables().values() for zh in texts.values()]


def test_widths_are_those_of_another_library() -> None:
    assert len(sample()) > 300
    for text in sample():
        assert columns.width(text) == cell_len(text), text


@pytest.mark.parametrize("room", [10, 21, 44, 78])
def test_lines_are_full_and_lose_nothing(room: int) -> None:
    for text in sample():
        lines = columns.wrapped(text, room)
        assert all(cell_len(line) <= room for line in lines), lines
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")
        assert not any(line != line.strip() or not line for line in lines)
        if room > 30:
            assert not any(line[0] in "，。；：、）”" for line in lines), lines
            assert not any(line[-1] in "（“" for line in lines), lines


def test_a_line_is_not_ended_before_it_is_full() -> None:
    for text in sample():
        lines = columns.wrapped(text, 44)
        for line, following in pairwise(lines):
            if CHINESE.match(following[:2]) and CHINESE.match(following[1:2]):
                assert cell_len(line) >= 44 - 3, (line, following)


def test_a_word_longer_than_a_line_is_cut() -> None:
    assert columns.wrapped("a" * 25, 10) == ["a" * 10, "a" * 10, "a" * 5]
    assert columns.wrapped("", 10) == []
    assert columns.wrapped("约占 80 % 以上", 8) == ["约占", "80 % 以", "上"]


def test_the_tables_are_in_the_package() -> None:
    folder = Path(str(files("artery.report.said") / "help"))
    assert (folder / "plan.toml").is_file()
