"""Which exchange a run uses: ``--sync``, ``--compress``, ``--bucket``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import torch.distributed as dist

from artery.errors import InputError, Problem
from artery.runner.exchange.buckets import BUCKET_BYTES, Buckets
from artery.runner.exchange.compress import KINDS, Ranks, codec
from artery.runner.exchange.local import LocalSgd

_RANKS: Final = range(1, 1025)


@dataclass(frozen=True, slots=True)
class Choice:
    """What a user may choose.

    ``sync``: ``every`` step, every so many steps (an int), or ``none``. ``compress``: a kind of
    :data:`~artery.runner.exchange.compress.KINDS`, ``powersgd_rank`` its rank.
    """

    sync: Literal["every", "none"] | int = "every"
    compress: str = "none"
    powersgd_rank: int = 4
    bucket_bytes: int = BUCKET_BYTES

    def __post_init__(self) -> None:
        for field, value, right, rule in (
            ("sync", self.sync, _is_sync(self.sync), "every, none or a number from 1 up"),
            ("compress", self.compress, self.compress in KINDS, f"one of {', '.join(KINDS)}"),
            ("powersgd-rank", self.powersgd_rank, self.powersgd_rank in _RANKS, "1 to 1,024"),
            ("bucket", self.bucket_bytes, self.bucket_bytes >= 1, "one byte or more"),
        ):
            if not right:
                raise _wrong(field, f'"{value}"', rule, "choose one of these")
        if self.compress != "none" and self.sync not in ("every", 1):
            found = f"{self.compress} with --sync {self.sync}"
            fix = "leave one of them out"
            raise _wrong("compress", found, "gradients that stay home are not compressed", fix)


def make_exchange(choice: Choice, group: dist.ProcessGroup | None = None) -> Buckets | LocalSgd:
    """Return the exchange that ``choice`` asks for, over the ranks of ``group`` (default: all)."""
    if choice.sync in ("every", 1):
        means = codec(choice.compress, choice.powersgd_rank, Ranks(group))
        return Buckets(means, choice.bucket_bytes)
    return LocalSgd(None if choice.sync == "none" else int(choice.sync), group)


def _is_sync(value: object) -> bool:
    return value in ("every", "none") or (
        isinstance(value, int) and not isinstance(value, bool) and value >= 1
    )


def _wrong(field: str, found: str, rule: str, fix: str) -> InputError:
    return InputError(Problem(field=field, found=found, rule=rule, fix=fix))
