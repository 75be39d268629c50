"""``Settings``: what a training run is asked to do; JSON on its way from process to process."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, Literal

_FREE: Final = (
    "steps",
    "save_every",
    "keep",
    "copies",
    "blocking_save",
    "timeout",
    "evaluate",
    "faults",
)
"""What may differ between a run and the one it goes on from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One run.

    ``global_batch`` samples a step, whatever the number of ranks, each rank in ``accumulate``
    pieces. ``consistent``: logical workers whose gradients are summed in a fixed order (0: the
    ranks' own order). ``save_every`` steps a checkpoint is written, the last ``keep`` are kept;
    ``blocking_save``: training waits until it is on disk. ``copies``: every step a copy in the
    memory of each host. ``timeout``: seconds that any collective may take. ``faults``: drills, as
    ``--fault`` spells them.
    """

    model: str
    data: str = "synthetic"
    size: int | None = None
    steps: int = 100
    global_batch: int = 32
    accumulate: int = 1
    optimizer: Literal["sgd", "adamw"] = "sgd"
    lr: float = 0.1
    momentum: float = 0.9
    weight_decay: float = 0.0
    schedule: Literal["constant", "cosine"] = "constant"
    warmup: int = 0
    seed: int = 0
    sync: Literal["every", "none"] | int = "every"
    compress: str = "none"
    powersgd_rank: int = 4
    bucket_bytes: int = 25 * 2**20
    consistent: int = 0
    save_every: int = 50
    keep: int = 3
    copies: bool = False
    blocking_save: bool = False
    timeout: float = 60.0
    evaluate: bool = True
    faults: tuple[str, ...] = field(default=())

    def document(self) -> dict[str, Any]:
        """Return it as JSON knows it."""
        return asdict(self)

    @classmethod
    def read(cls, document: dict[str, Any]) -> Settings:
        """Return what :meth:`document` gave."""
        known = {each.name for each in fields(cls)}
        given = {name: value for name, value in document.items() if name in known}
        return cls(**{**given, "faults": tuple(given.get("faults", ()))})

    def identity(self) -> dict[str, Any]:
        """Return what must be the same for one run to go on from another's checkpoint."""
        whole = self.document()
        kept = {name: value for name, value in whole.items() if name not in _FREE}
        if self.schedule != "constant":  # the rate depends on how long the run is
            kept["steps"] = self.steps
        return kept
