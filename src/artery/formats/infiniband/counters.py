"""Counters of network ports: what the telling ones mean when they are not zero."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

MEANINGS: Final = (
    (r"(?:rx|tx)_prio\d_pause(?:_transition)?|(?:rx|tx)_pause_ctrl_phy|(?:rx|tx)_global_pause",
     "pause", "pause frames: the network is congested, and lossless operation pushes back"),
    (r"np_cnp_sent|np_ecn_marked_roce_packets|rp_cnp_handled", "ecn",
     "congestion was marked (ECN) and senders slowed down (CNP)"),
    (r"rp_cnp_ignored", "ecn", "congestion notifications were ignored: DCQCN is off on this card"),
    (r"out_of_sequence|packet_seq_err|implied_nak_seq_err", "sequence",
     "packets came out of order or were lost: loss, or paths that reorder"),
    ((r"local_ack_timeout_err|roce_adp_retrans(?:_to)?|req_transport_retries_exceeded"
      r"|roce_slow_restart\w*|retry_exceeded"), "retransmit",
     "packets were sent again: loss in the network"),
    (r"rnr_nak_retry_err|out_of_buffer|rx_out_of_buffer", "receiver",
     "the receiver had no buffer ready: the host is too slow"),
    (r"rx_discards_phy|tx_discards_phy|rx_buffer_passed_thres_phy|(?:rx|tx)_dropped", "drop",
     "packets were dropped at the port"),
    (r"rx_crc_errors_phy|rx_symbol_err_phy|rx_fcs_errors|rx_pcs_symbol_err_phy|rx_crc_errors",
     "cable", "bit errors on the wire: cable, optic or dirt"),
    (r"link_down_events_phy|link_down_events", "cable", "the link went down"),
    ((r"SymbolErrorCounter|LinkErrorRecoveryCounter|PortRcvErrors|LocalLinkIntegrityErrors"
      r"|PortRcvRemotePhysicalErrors|PortBufferOverrunErrors|ExcessiveBufferOverrunErrors"),
     "cable", "bit errors on the wire: cable, optic or dirt"),
    (r"LinkDownedCounter", "cable", "the link went down"),
    (r"PortXmitWait", "congestion", "data waited for credits: congestion further on"),
    (r"PortXmitDiscards|PortRcvSwitchRelayErrors|VL15Dropped|PortRcvConstraintErrors", "drop",
     "packets were dropped at the port"),
)  # fmt: skip
"""Pattern of the name, what it is about, what it says (NVIDIA, mlx5 ethtool and RDMA counters;
InfiniBand Trade Association, PortCounters)."""

_COMPILED: Final = tuple((re.compile(p), about, said) for p, about, said in MEANINGS)


def telling(counters: Mapping[str, int]) -> list[dict[str, object]]:
    """Return the counters that are not zero and mean something: name, value, about, meaning."""
    found: list[dict[str, object]] = []
    for name, value in counters.items():
        if value <= 0:
            continue
        for pattern, about, said in _COMPILED:
            if pattern.fullmatch(name):
                found.append({"name": name, "value": value, "about": about, "meaning": said})
                break
    return found


def remarks(ports: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yield one line for each meaning, with the ports and counters that show it."""
    seen: dict[str, list[str]] = {}
    for port, counters in ports.items():
        for one in telling(counters):
            where = f"{port} {one['name']} {one['value']}".strip()
            seen.setdefault(str(one["meaning"]), []).append(where)
    for meaning, places in seen.items():
        more = f" and {len(places) - 4} more" if len(places) > 4 else ""
        yield f"{meaning} ({', '.join(places[:4])}{more})"
    if ports:
        yield "counters add up since the port came up: take two readings and compare"
