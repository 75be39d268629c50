"""All pairs of processes measured, round by round, over a transport or by UCX's own tool."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from artery.answers.bench.job import PairCase, PairDone
from artery.answers.bench.meeting import apart, own_address, reached
from artery.answers.bench.party import Party, meeting_room
from artery.meter.clock import Times
from artery.runner.executor.transport import Buffer, Parcel, Transport, collected, meet, texts, told


class _Channel:
    """Bytes from process to process over a transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def room(self, size: int) -> Buffer:
        room = self._transport.empty(size, "uint8")
        room[...] = 0
        return room

    def send(self, buffers: Sequence[Buffer], peer: int) -> None:
        left, _ = self._transport.post([Parcel(one, peer) for one in buffers], [])
        for work in left:
            work.wait()
        self._transport.finish()

    def receive(self, buffers: Sequence[Buffer], peer: int) -> None:
        _, come = self._transport.post([], [Parcel(one, peer) for one in buffers])
        for work in come:
            work.wait()
        self._transport.finish()


def pairs_done(party: Party, asked: PairCase, timeout: float) -> list[PairDone]:
    """Measure all pairs, round by round; return them on rank 0."""
    from artery.meter.links import measured, rounds

    transport = party.transport
    ranks = range(asked.ranks)
    found: list[PairDone] = []
    if transport.process not in ranks:
        return found
    room = meeting_room(transport)
    for pairs in rounds(asked.ranks, together=asked.together):
        meet(transport, ranks, room)
        mine = next((pair for pair in pairs if transport.process in pair), None)
        one = None
        if mine is not None and asked.tool == "ucx":
            one = _by_ucx(party, mine, asked, timeout)
        elif mine is not None:
            pair = measured(
                _Channel(transport), transport.process, mine,
                size=asked.size, warmup=asked.warmup, repeats=asked.repeats,
            )  # fmt: skip
            if pair is not None:
                seconds = pair.latency.seconds
                one = PairDone(pair.source, pair.target, seconds, pair.onward, pair.back)
        if one is not None:
            found.append(one)
    rows = texts_of_pairs(transport, ranks, found)
    return rows if transport.process == 0 else []


def texts_of_pairs(
    transport: Transport, ranks: Sequence[int], found: Sequence[PairDone]
) -> list[PairDone]:
    """Return, on rank 0, the pairs of all ranks, of each latency its least and its median."""
    room = np.zeros((len(ranks), 6))
    for place, one in enumerate(found):
        times = Times(one.latency)
        room[place] = (one.source, one.target, times.least, times.median, one.onward, one.back)
    rows = [row for of_one in collected(transport, ranks, room.reshape(-1))
            for row in of_one.reshape(-1, 6).tolist() if row[5]]  # fmt: skip
    return [
        PairDone(int(source), int(target), (least, middle), onward, back)
        for source, target, least, middle, onward, back in sorted(rows)
    ]


def _by_ucx(
    party: Party, pair: tuple[int, int], asked: PairCase, timeout: float
) -> PairDone | None:
    """Measure one pair with ``ucx_perftest``: the second serves, then the first does."""
    from artery.meter import ucx

    transport = party.transport
    me, results = transport.process, []
    room = meeting_room(transport)
    here = own_address(party.meeting)
    for test, size in ((ucx.LATENCY, 8), (ucx.BANDWIDTH, asked.size)):
        for client, server in ((pair[0], pair[1]), (pair[1], pair[0])):
            names = [server, client]
            port = told(transport, names, float(ucx.free_port() if me == server else 0))
            theirs = _said(transport, server, client, here)
            theirs += _said(transport, client, server, here)  # each hears the other one only
            lan = apart(theirs, here)
            if me == server:
                process = ucx.served(int(port), lan=lan)
                try:
                    meet(transport, names, room)
                    results.append(told(transport, [client, server], 0.0))
                finally:
                    process.kill()
                    process.wait()
                continue
            meet(transport, names, room)
            got = ucx.tested(
                reached(theirs, here), int(port), test, size,
                warmup=asked.warmup, repeats=asked.repeats * 20, timeout=timeout, lan=lan,
            )  # fmt: skip
            value = got["latency_p50_s" if test == ucx.LATENCY else "bandwidth_bytes_per_s"]
            results.append(told(transport, [client, server], float(value)))
    if me != pair[0]:
        return None
    return PairDone(*pair, (min(results[:2]), max(results[:2])), results[2], results[3])


def _said(transport: Transport, of: int, to: int, text: str) -> str:
    """Return, on process ``to``, the text of process ``of``."""
    found = texts(transport, [to, of], text)
    return found[1] if found else ""
