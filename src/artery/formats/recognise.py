"""Finds out which format a file has, by its content alone.

A format is one module of this room that holds ``FORMAT`` (a :class:`Format`), or ``FORMATS`` (a
tuple of them), and one line in :data:`MODULES`. Every format is asked how sure it is; the surest
reads the file.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

from artery.errors import InputError, Problem, UnknownNameError
from artery.formats.ordinary import is_program, is_table
from artery.formats.plausible import cut_lists, implausible
from artery.formats.reading import Format, Progress, Reading
from artery.formats.text import Text, beginning, read_text
from artery.formats.waiting import kept, told

MODULES: Final[tuple[str, ...]] = (
    "own.bench",
    "own.phases",
    "astra_sim",
    "cabling.cable_plan",
    "chakra",
    "gpus.dcgm",
    "training.deepspeed_config",
    "gpus.dmesg_xid",
    "infiniband.ethtool_counters",
    "facts",
    "pytorch.flight_recorder",
    "goal",
    "hf_config.file",
    "infiniband.ib_counters",
    "infiniband.iblinkinfo",
    "infiniband.ibnetdiscover",
    "infiniband.ibstat",
    "mpi.imb",
    "jobs.list",
    "jobs.aws_spot",
    "jobs.traces",
    "k8s.node",
    "k8s.pods",
    "k8s.topology",
    "pytorch.kineto",
    "cabling.lldp",
    "training.megatron_args",
    "nccl.debug",
    "nccl.graph_xml",
    "nccl.tests",
    "nccl.topology_xml",
    "gpus.nvidia_smi_q",
    "gpus.nvidia_smi_topo",
    "mpi.osu",
    "gpus.rocm_smi_topo",
    "simai",
    "slurm.blocks",
    "slurm.sacct",
    "slurm.scontrol",
    "slurm.sinfo",
    "pytorch.watchdog",
    "pytorch.torchrun",
    "training.torchtitan_config",
    "training.log",
    "mpi.ucx_perftest",
)
"""Modules of this room that hold formats; of two that are equally sure the first reads."""

SURE_ENOUGH: Final = 0.5
"""Below this nobody knows the file."""


@cache
def formats() -> tuple[Format, ...]:
    """Return every known format."""
    found: list[Format] = []
    for name in MODULES:
        module = import_module(f"artery.formats.{name}")
        found += getattr(module, "FORMATS", ()) or (module.FORMAT,)
    return tuple(found)


def recognise(text: Text) -> tuple[Format, ...]:
    """Return the formats that claim ``text``, the surest first; perhaps none.

    A program is nobody's, and a table only that of a format that is a table itself.
    """
    if is_program(text):
        return ()
    asked = [one for one in formats() if one.table] if is_table(text) else formats()
    claims = [(format_.recognise(text), format_) for format_ in asked]
    sure = [claim for claim in claims if claim[0] >= SURE_ENOUGH]
    return tuple(format_ for _, format_ in sorted(sure, key=lambda claim: -claim[0]))


MIXED: Final = frozenset({"dmesg-xid", "nccl-debug", "nccl-tests", "torch-watchdog", "torchrun"})
"""Formats whose lines stand among those of others: one console, one log, one ticket."""


def read_mixed(path: str, progress: Progress | None = None) -> tuple[Reading, ...]:
    """Return the reading of the file, and of the other logs that are mixed into the same file.

    Raises ``InputError`` as :func:`read` does; a log that is mixed in and says nothing usable is
    left out.
    """
    with told(path), kept(path):
        first, text = _read(path, None, progress)
        found = [first]
        if text is not None and (first.format in MIXED or first.kind == "log"):
            for format_ in recognise(text):
                if format_.name in MIXED - {first.format}:
                    with suppress(InputError):
                        found.append(format_.read(text))
        return tuple(map(_remarked, found))


def read(path: str, format_name: str | None = None, progress: Progress | None = None) -> Reading:
    """Return the reading of the file at ``path`` (``-``: standard input).

    ``format_name`` skips the recognition; ``progress`` hears of files that are streamed. Raises
    ``InputError`` if the file cannot be read, if no format knows it, or if it says nothing usable.
    """
    with told(path), kept(path):
        return _remarked(_read(path, format_name, progress)[0])


def _read(
    path: str, format_name: str | None, progress: Progress | None
) -> tuple[Reading, Text | None]:
    """Return the reading and, unless the file was streamed, its text."""
    named = {format_.name: format_ for format_ in formats()}
    if format_name is not None and format_name not in named:
        raise UnknownNameError("format", format_name, named)
    for format_ in formats() if path != "-" else ():
        if format_.stream is None or format_name not in (None, format_.name):
            continue
        if format_name is not None or format_.recognise(beginning(path)) >= SURE_ENOUGH:
            return format_.stream(path, progress), None
    text = read_text(path)
    if format_name is not None:
        return named[format_name].read(text), text
    claims = recognise(text) or tuple(
        each for each in formats() if each.ending and path.lower().endswith(each.ending)
    )
    if not claims:
        raise _unknown(text)
    return claims[0].read(text), text


_NEAREST: Final = 3
_BEGINNING: Final = 4096
"""Characters of a file in which words are looked for; assumed, a page or two."""


_OURS: Final = {
    "a system of artery's own is named by --on": re.compile(
        r"^(\[node\]|node:)\s*$(?=[\s\S]*^\s*(kind|chips)\s*[:=])", re.MULTILINE
    ),
    "a job script or manifest is checked by `artery lint`": re.compile(
        r"^(#SBATCH\s|apiVersion:\s)", re.MULTILINE
    ),
}
"""What else a file may be for, by what stands in it."""


def _unknown(text: Text) -> InputError:
    """Return that nobody knows the file, with formats whose words it has, or that it is empty."""
    if not text.content.strip():
        return InputError(
            Problem(
                file=text.path,
                found=text.opening,
                rule="there is nothing in it to recognise",
                fix="write or copy the file again",
            )
        )
    for use, shape in _OURS.items():
        if shape.search(text.content[:_BEGINNING]):
            return _for_another(text, use)
    near = _nearest(text)
    count = len(formats())
    rule = f"none of the {count} known formats begins or looks like this"
    return InputError(
        Problem(
            file=text.path,
            line=1,
            found=text.opening,
            rule=f"{rule}; nearest by its words: {', '.join(near)}" if near else rule,
            fix="name the format if you know it, or send the whole output of the tool; "
            "`artery read --formats` lists them",
        )
    )


def _for_another(text: Text, use: str) -> InputError:
    """Return that the file is for another command."""
    return InputError(
        Problem(
            file=text.path,
            line=1,
            found=text.opening,
            rule="no format that another tool writes",
            fix=use,
        )
    )


def _nearest(text: Text) -> list[str]:
    """Return the formats of whose names half the words stand in the file or its name."""
    said = f"{Path(text.path).name}\n{text.content[:_BEGINNING]}".casefold()
    words = set(re.findall(r"[a-z0-9]+", said))
    shares = {}
    for format_ in formats():
        parts = format_.name.split("-")
        shares[format_.name] = sum(part in words for part in parts) / len(parts)
    near = [name for name, share in shares.items() if share >= SURE_ENOUGH]
    return sorted(near, key=lambda name: -shares[name])[:_NEAREST]


def _remarked(reading: Reading) -> Reading:
    """Return the reading, with a warning for every number that cannot be, and every list cut."""
    found = [*implausible(reading.fields), *cut_lists(reading.fields)]
    return replace(reading, warnings=(*reading.warnings, *found)) if found else reading
