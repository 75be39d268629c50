"""Shell scripts taken apart: variables, ``#SBATCH`` options, and what is started how.

A few lines of shell are understood: assignments, ``export``, ``env``, continued lines, comments,
``bash -c '...'``, and commands joined by ``&&``, ``;`` and pipes. No shell is run.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from artery.formats.launch.file import Command, Setting
from artery.formats.launch.shell_words import LARGEST, substituted, variables

PROGRAMS: Final = frozenset(
    {"srun", "torchrun", "mpirun", "mpiexec", "deepspeed", "accelerate", "python", "python3",
     "ulimit", "trap"}
)  # fmt: skip
"""What is looked for in a line; everything else belongs to one of them."""

LETTERS: Final = {
    "N": "nodes", "n": "ntasks", "c": "cpus_per_task", "t": "time", "K": "kill_on_bad_exit",
    "G": "gpus", "p": "partition", "o": "output", "e": "error", "J": "job_name", "w": "nodelist",
    "k": "no_kill",
}  # fmt: skip
"""Slurm's short options (sbatch and srun manual pages)."""

_SHELLS: Final = frozenset({"bash", "sh", "/bin/bash", "/bin/sh", "zsh"})
"""What is behind such a word belongs to the shell: ``srun bash -c '...'``."""

_SBATCH: Final = re.compile(r"^#SBATCH\s+(.*)$")
_DOCUMENT: Final = re.compile(r"(?<!<)<<-?[ \t]*(['\"\\\\]?)([A-Za-z_]\w{0,60})")
"""The beginning of a here-document, with the word that ends it."""
_RUN_IT: Final = frozenset({"bash", "sh", "zsh", "ksh", "sbatch", "srun", "salloc", "ssh"})
"""What runs the here-document it is given."""
_ASSIGN: Final = re.compile(r"([A-Za-z_]\w{0,60})=(.*)", re.DOTALL)
_JOINED: Final = frozenset({"&&", "||", ";", "|", "&", "then", "do", "else", "fi", "done"})
_MODULES: Final = {
    "torch.distributed.run": "torchrun",
    "torch.distributed.launch": "torch.distributed.launch",
    "torch.distributed.elastic.run": "torchrun",
}


def script_parts(
    content: str, first: int = 1
) -> tuple[list[Setting], dict[str, Setting], list[Command]]:
    """Return variables, ``#SBATCH`` options and commands; ``first`` is the line it begins on.

    Options below the first command are not in force (:func:`late_options`).
    """
    content = _without_documents(content)
    late = {one.line for one in late_options(content, first)}
    known = variables(content)
    found: list[Setting] = []
    batch: dict[str, Setting] = {}
    commands: list[Command] = []
    for line, text in _logical(content[:LARGEST], first):
        asked = _SBATCH.match(text.strip())
        if asked is not None:
            batch |= {} if line in late else _options(_split(asked[1]), line)
            continue
        for words in _pieces(_split(substituted(text, known))):
            if words[0] == "unset" and _is_plain(text) and not _started(commands):
                found = [one for one in found if "-f" in words or one.name not in words[1:]]
                continue
            named, told = _read(words, line)
            found += named
            commands += told
    return found, batch, commands


def late_options(content: str, first: int = 1) -> Iterator[Setting]:
    """Yield the ``#SBATCH`` lines below the first command, which Slurm does not read.

    What a script hands to ``sbatch`` as a here-document begins a batch script of its own.
    """
    begun = False
    for line, text in _logical(_without_documents(content)[:LARGEST], first):
        asked = _SBATCH.match(text.strip())
        if asked is None:
            begun = not (_DOCUMENT.search(text) and "sbatch" in text.split())
        elif begun:
            yield Setting("#SBATCH", asked[1].strip(), line)


def _without_documents(content: str) -> str:
    """Return the script with the lines of here-documents empty, but for those a shell runs."""
    lines = content.split("\n")
    ends: list[tuple[str, bool]] = []  # of the documents that begin on a line, and whether kept
    for place, line in enumerate(lines):
        if ends:
            end, runs = ends[0]
            if line.strip() == end:
                ends.pop(0)
            if not runs:
                lines[place] = ""
        elif not line.lstrip().startswith("#"):
            runs = any(word.rpartition("/")[2] in _RUN_IT for word in re.split(r"[\s|;&(]+", line))
            ends = [(found[2], runs) for found in _DOCUMENT.finditer(line)]
    return content if ends else "\n".join(lines)


def _is_plain(text: str) -> bool:
    """Whether an ``unset`` in this line is sure to be run: it stands under no condition."""
    return text.startswith(("unset ", "export "))


def _started(commands: Sequence[Command]) -> bool:
    """Whether a program was started, which had the variables that are unset after it."""
    return any(one.program not in {"ulimit", "trap"} for one in commands)


def word_parts(words: Sequence[str], line: int) -> tuple[list[Setting], list[Command]]:
    """Return variables and commands of a command that is given as a list of words."""
    found: list[Setting] = []
    commands: list[Command] = []
    for piece in _pieces(list(words)):
        named, told = _read(piece, line)
        found += named
        commands += told
    return found, commands


def _logical(content: str, first: int) -> Iterator[tuple[int, str]]:
    """Yield lines with their number, continued ones joined, comments left out but ``#SBATCH``."""
    start, held = first, ""
    for number, raw in enumerate(content.split("\n"), first):
        line = raw.rstrip()
        if not held:
            start = number
        if line.endswith("\\"):
            held += line[:-1] + " "
            continue
        whole, held = held + line, ""
        bare = whole.strip()
        if bare and (not bare.startswith("#") or bare.startswith("#SBATCH")):
            yield start, whole
    if held.strip():
        yield start, held


def _split(text: str) -> list[str]:
    """Return the words of a line, quotes taken off; of a broken one, what spaces divide."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        words = text.split()
    for place, word in enumerate(words):
        if word.startswith("#"):
            words = words[:place]
            break
    return _joined(words)


def _joined(words: list[str]) -> list[str]:
    """Return the words with each ``$(...)`` in one piece, as a shell takes it."""
    found: list[str] = []
    depth = 0
    for word in words:
        if depth > 0:
            found[-1] += " " + word
        else:
            found.append(word)
        depth += word.count("(") - word.count(")") if depth or "$(" in word else 0
    return found if depth <= 0 else words


def _pieces(words: list[str]) -> Iterator[list[str]]:
    """Yield the simple commands of a line."""
    piece: list[str] = []
    for word in words:
        if word in _JOINED:
            if piece:
                yield piece
            piece = []
        else:
            piece.append(word)
    if piece:
        yield piece


def _read(words: list[str], line: int) -> tuple[list[Setting], list[Command]]:
    """Return the assignments before and the commands of one simple command."""
    found: list[Setting] = []
    place = 0
    while place < len(words):
        word = words[place]
        assigned = _ASSIGN.fullmatch(word)
        if word in {"export", "env", "local", "readonly", "exec", "time", "set", "-a"}:
            place += 1
        elif assigned is not None:
            found.append(Setting(assigned[1], assigned[2], line))
            place += 1
        else:
            break
    named, commands = _commands(words[place:], line)
    return found + named, commands


def _commands(words: list[str], line: int) -> tuple[list[Setting], list[Command]]:
    """Return the programs of one command, each with its own options: ``srun``, ``torchrun``."""
    found: list[Setting] = []
    commands: list[Command] = []
    starts = [(place, name) for place, word in enumerate(words) if (name := _program(words, place))]
    under = ""
    for number, (place, name) in enumerate(starts):
        end = starts[number + 1][0] if number + 1 < len(starts) else len(words)
        own = words[place + 1 : end]
        shell = next((at for at, word in enumerate(own) if word in _SHELLS), len(own))
        options = _options(own[:shell], line)
        found += _handed_on(own, options, line)
        commands.append(Command(name, options, line, " ".join(words[place:end]), under))
        under = name
    for word in words:
        if " " in word and any(name in word for name in ("torchrun", "srun", "python")):
            inner, _, told = script_parts(word, line)
            found += inner
            commands += [
                Command(one.program, one.options, line, one.text, one.under or under)
                for one in told
            ]
    return found, commands


def _program(words: Sequence[str], place: int) -> str:
    """Return the program that ``words[place]`` is, ``""`` if it is none."""
    name = words[place].rpartition("/")[2]
    if name not in PROGRAMS or (place and words[place - 1] == "-m"):
        return ""
    if name.startswith("python") and words[place + 1 : place + 2] == ["-m"]:
        return _MODULES.get(words[place + 2] if place + 2 < len(words) else "", "python")
    return name


def _options(words: Sequence[str], line: int) -> dict[str, Setting]:
    """Return the options among ``words`` by long name."""
    found: dict[str, Setting] = {}
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        if not word.startswith("-") or word in {"-", "--"}:
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("--") and name[:1] in LETTERS:
            name, value = LETTERS[name[0]], value or name[1:]
            equals = "=" if value else ""
        name = name.replace("-", "_")
        if not equals and place < len(words) and not words[place].startswith("-"):
            value = words[place]
        found.setdefault(name, Setting(name, value, line))
    return found


def _handed_on(words: Sequence[str], options: dict[str, Setting], line: int) -> Iterator[Setting]:
    """Yield variables given to others: ``mpirun -x NAME=value``, ``srun --export=NAME=value``."""
    for flag, word in pairwise(words):
        assigned = _ASSIGN.fullmatch(word)
        if flag in {"-x", "-genv"} and assigned is not None:
            yield Setting(assigned[1], assigned[2], line)
    exported = options.get("export")
    for part in exported.value.split(",") if exported is not None else ():
        assigned = _ASSIGN.fullmatch(part)
        if assigned is not None:
            yield Setting(assigned[1], assigned[2], line)
