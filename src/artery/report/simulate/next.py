"""What to type after ``simulate``: the same network again, with one thing changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any, Final

from artery.answers.expect.pricing import least_size
from artery.answers.simulate.asked import routing_of, transport_of
from artery.answers.simulate.result import SimulateAnswer
from artery.report.typed import asked_on, with_more

KEPT: Final = (
    *("placement", "queue_pairs", "transport", "fail_links", "fail_switches", "fail_at"),
    *("background", "matrix", "slow", "store_and_forward", "flow_control", "reduce_rate"),
    *("offload", "seed", "seeds", "engine", "nccl"),
)
"""What was asked and is asked again; the system carries what was laid over it itself."""

USUAL: Final[Mapping[str, object]] = {
    "placement": "packed", "queue_pairs": 1, "fail_switches": 0, "flow_control": "auto",
    "offload": "auto", "seed": 0, "seeds": 1, "engine": "auto",
}  # fmt: skip
"""What need not be said."""


def next_commands(answer: SimulateAnswer) -> Iterator[str]:
    """Yield what to type next."""
    more = with_more(answer.system) if answer.ranks == 1 else None
    where, size = asked_on(more or answer.system), f" --size {answer.size}"
    if more is not None:
        yield f"artery simulate {answer.collective} {where}{size}"
    given = "" if answer.request["matrix"] else size
    rest = "".join(_flags(answer.request))
    routing, algorithm = answer.request["routing"], answer.request["algorithm"]
    turned = "" if routing == "ecmp" and not _sprays(answer) else f" --routing {routing}"
    if algorithm != "best" and more is None:
        yield (f"artery simulate {answer.collective} {where}{given} --algorithm best{turned}{rest}")
    if routing == "ecmp" and len(answer.simulation.network.between):
        chosen = "" if algorithm == "auto" else f" --algorithm {quote(str(algorithm))}"
        yield f"artery simulate {answer.collective} {where}{given}{chosen} --routing spray{rest}"
    typed = _element(answer)
    if typed is not None:
        yield f"artery expect {answer.collective} {where}{size}{typed}{_version(answer.request)}"


def _element(answer: SimulateAnswer) -> str | None:
    """Return the flag of a data type of which the size holds an element, ``None``: no type is.

    Here bytes are sent, whatever they are; ``expect`` counts elements as nccl-tests does.
    """
    for flag, dtype in (("", "float"), (" --dtype int8", "int8")):
        if answer.size >= least_size(answer.collective, answer.ranks, dtype):
            return flag
    return None


def _sprays(answer: SimulateAnswer) -> bool:
    """Whether packets are sprayed unless one asks for another routing."""
    transport = answer.request["transport"] or transport_of(answer.system)
    return routing_of("auto", str(transport)) == "spray"


def _flags(request: Mapping[str, Any]) -> Iterator[str]:
    """Yield the flags that were given, as they are typed."""
    for name in KEPT:
        value, flag = request[name], f" --{name.replace('_', '-')}"
        if value in (None, False, "", USUAL.get(name)):
            continue
        if value is True:
            yield flag
        elif isinstance(value, (list, tuple)):
            yield from (f"{flag} {quote(one)}" for one in value)
        else:
            yield f"{flag} {quote(str(value))}"


def _version(request: Mapping[str, Any]) -> str:
    return f" --nccl {quote(str(request['nccl']))}" if request["nccl"] else ""
