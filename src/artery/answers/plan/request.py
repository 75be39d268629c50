"""What is asked of ``plan``, and the defaults for what is not said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log2

from artery.catalog.profiles import profile
from artery.chip.roofline import WIDTH, peak
from artery.core.chip import Chip
from artery.core.plan import Plan
from artery.core.profile import Profile
from artery.core.system import System
from artery.core.workload import Workload
from artery.errors import InputError, Problem, Problems, UnknownNameError
from artery.step.optimizer import RULES
from artery.step.plans import RECOMPUTE

DEGREES = ("tp", "pp", "vpp", "cp", "ep", "etp", "dp", "dp_replicate", "zero", "micro_batch")
"""Fields that are searched unless given."""

ATTENTION = ("eager", "flash1", "flash2", "flash3")
OVERLAPS = ("dp", "tp", "pp", "cp", "ep")

BATCH_TOKENS = 4 * 1024 * 1024
"""Assumed batch, in tokens, for a model whose published batch is not known: what GPT-3 to
Llama 2 trained with (3.2 M to 4 M)."""

IMAGE_BATCH = 256
"""Assumed samples per chip and step for an image model (the ResNet-50 recipe of
arXiv 1706.02677 has 32 per chip, later ones up to 256)."""

LARGEST_RUN = 1e30
"""No run has more tokens; a larger number is a typing error."""

LOAD = (1.0, 1.1, 1.5)
"""Assumed load of the busiest expert over the mean: balanced by an auxiliary loss, without one
half as much again."""

LIMIT = 10**12
"""No degree, batch or sequence is larger: beyond it whole numbers are typing errors."""


@dataclass(frozen=True, slots=True)
class Request:
    """A model on a system, with every field that the user gave; ``None`` means not given."""

    workload: Workload
    system: System
    degrees: Mapping[str, int] = field(default_factory=dict)
    global_batch: int | None = None
    sequence: int | None = None
    dtype: str | None = None
    grad_dtype: str | None = None
    recompute: str | None = None
    recompute_layers: float | None = None
    sequence_parallel: bool | None = None
    attention: str | None = None
    overlap: tuple[str, ...] | None = None
    framework: str | None = None
    optimizer: str | None = None
    placement: str = "packed"
    load_factor: float | tuple[float, float, float] | None = None
    tokens: float | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """The request with defaults filled in: ``fixed`` degrees, the ``shared`` rest, warnings."""

    fixed: Mapping[str, int]
    shared: Plan
    profile: Profile
    warnings: tuple[str, ...]


def settle(request: Request) -> Settled:
    """Return the request with every default filled in and said.

    Raises ``InputError`` with all problems at once.
    """
    warnings: list[str] = []
    _check(request)
    known = profile(request.framework or _framework(request))
    length = _sequence(request, warnings)
    shared = Plan(
        sequence=length,
        dtype=request.dtype or _dtype(request.system),
        grad_dtype=request.grad_dtype or known.grad_dtype,
        attention=_attention(request, known, warnings),  # type: ignore[arg-type]
        overlap=request.overlap,
        framework=known.name,
        optimizer=request.optimizer or known.optimizer,
        placement=request.placement,
        recompute_layers=_or(request.recompute_layers, 1.0),
        load_factor=load_range(request)[1],
    )
    fixed = dict(request.degrees)
    fixed["global_batch"] = request.global_batch or _batch(request, length, warnings)
    if request.recompute is not None:
        fixed["recompute"] = RECOMPUTE.index(request.recompute)
    if request.sequence_parallel is not None:
        fixed["sequence_parallel"] = int(request.sequence_parallel)
    return Settled(fixed, shared, known, tuple(warnings))


def load_range(request: Request) -> tuple[float, float, float]:
    """Return the busiest expert's load over the mean: at least, likely, at most.

    A single number given is taken as certain.
    """
    load = request.load_factor
    if load is None:
        return LOAD
    return load if isinstance(load, tuple) else (load, load, load)


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


def _check(request: Request) -> None:
    """Refuse unknown names and numbers out of range, all at once."""
    problems = Problems()
    names = (
        ("dtype", request.dtype, tuple(WIDTH)),
        ("grad_dtype", request.grad_dtype, ("fp32", "bf16", "fp16")),
        ("recompute", request.recompute, RECOMPUTE),
        ("attention", request.attention, ATTENTION),
        ("optimizer", request.optimizer, tuple(RULES)),
    )
    for name, value, known in names:
        if value is not None and value not in known:
            problems.absorb(UnknownNameError(name, value, known))
    for name in request.overlap or ():
        if name not in OVERLAPS:
            problems.absorb(UnknownNameError("overlap", name, OVERLAPS))
    _check_numbers(request, problems)
    _check_known(request, problems)
    if request.workload.unsupported is not None:
        problems.add(_unsupported(request.workload, request.workload.unsupported))
    problems.raise_if_any()


def _check_numbers(request: Request, problems: Problems) -> None:
    numbers = {**request.degrees, "global_batch": request.global_batch, "seq": request.sequence}
    for name, number in numbers.items():
        if number is not None and not (0 if name == "zero" else 1) <= number <= LIMIT:
            problems.add(_out_of_range(name, number))
    if request.degrees.get("zero", 0) > 3:
        problems.add(Problem(field="zero", found=str(request.degrees["zero"]),
                             rule="ZeRO has stages 0 to 3", fix="--zero 3"))  # fmt: skip
    share, load, tokens = request.recompute_layers, load_range(request), request.tokens
    if share is not None and not 0.0 <= share <= 1.0:
        problems.add(Problem(field="recompute_layers", found=f"{share:g}",
                             rule="is a share of the layers, 0 to 1",
                             fix="for example 0.5"))  # fmt: skip
    if not 1.0 <= load[0] <= load[1] <= load[2] <= LIMIT:
        problems.add(Problem(field="load_factor", found=":".join(f"{each:g}" for each in load),
                             rule="is the busiest expert's load over the mean, 1 or more, rising",
                             fix="1 for an even load, 1.0:1.1:1.5 for a range"))  # fmt: skip
    if tokens is not None and not 0.0 < tokens < LARGEST_RUN:
        problems.add(Problem(field="tokens", found=f"{tokens:g}", rule="must be above 0",
                             fix="for example --tokens 15T"))  # fmt: skip
    if tokens is not None and request.workload.row_kind != "token":
        problems.add(Problem(field="tokens", found=f"tokens for {request.workload.name}",
                             rule="it works on samples and has no tokens",
                             fix="leave --tokens out"))  # fmt: skip


def _check_known(request: Request, problems: Problems) -> None:
    """Refuse a framework that nobody knows, and what the chip has not."""
    chip = request.system.chip
    if request.dtype in WIDTH:
        try:
            peak(chip, request.dtype)
        except InputError as error:
            problems.absorb(error)
    if request.attention in ATTENTION and request.attention not in _kernels(chip):
        problems.add(_no_kernel(request.attention, chip))
    try:
        profile(request.framework or _framework(request))
    except InputError as error:
        problems.absorb(error)


def _out_of_range(name: str, number: int) -> Problem:
    low = 0 if name == "zero" else 1
    return Problem(
        field=name,
        found=f"{number:,}",
        rule=f"must be a whole number from {low} to {LIMIT:,}",
        fix=f"leave --{name.replace('_', '-')} out to have it chosen",
    )


def _unsupported(workload: Workload, reason: str) -> Problem:
    return Problem(
        field="model",
        found=workload.name,
        rule=reason,
        fix="artery counts its parameters, but gives no step time that it could not stand behind",
    )


def _framework(request: Request) -> str:
    """The profile that fits the chip and the kind of model."""
    if request.system.chip.name.startswith("tpu"):
        return "maxtext"
    return "megatron-core" if request.workload.row_kind == "token" else "pytorch-ddp"


def _dtype(system: System) -> str:
    """The widest-used training dtype that the chip has matrix units for."""
    return next((d for d in ("bf16", "fp16", "tf32", "fp32") if d in system.chip.peaks), "fp32")


def _sequence(request: Request, warnings: list[str]) -> int:
    """The asked or the model's usual rows per sample; a longer one than it allows is said."""
    longest = request.workload.max_sequence
    if request.sequence is None:
        length = request.workload.sequence
        return length if longest is None else min(length, longest)
    if longest is not None and request.sequence > longest:
        warnings.append(
            f"a sequence of {request.sequence:,} is longer than {request.workload.name} "
            f"allows ({longest:,}); its shape is taken as it is"
        )
    return request.sequence


def _kernels(chip: Chip) -> tuple[str, ...]:
    """The attention kernels whose speed on ``chip`` is known."""
    return ("eager", *chip.efficiency.attention)


def _no_kernel(wanted: str, chip: Chip) -> Problem:
    has = _kernels(chip)
    return Problem(
        field="attention",
        found=f'"{wanted}" on {chip.name}',
        rule=f"no speed is known for it there; the chip has {', '.join(has)}",
        fix=f"--attention {has[-1]}",
    )


def _attention(request: Request, known: Profile, warnings: list[str]) -> str:
    """The asked attention kernel, or the profile's, stepped down to what the chip has."""
    wanted = request.attention or known.attention
    has = _kernels(request.system.chip)
    if wanted in has:
        return wanted
    order = [
        kind
        for kind in ATTENTION
        if kind in has and ATTENTION.index(kind) <= ATTENTION.index(wanted)
    ]
    if order[-1] == "eager":
        warnings.append(f"no fused attention kernel is known for {request.system.chip.name}")
    return order[-1]


def _batch(request: Request, length: int, warnings: list[str]) -> int:
    """The published batch, else an assumed one, said in a warning."""
    published = request.workload.global_batch
    chips = request.system.chips
    if published is not None and length == request.workload.sequence:
        return published
    if request.workload.row_kind == "token":
        batch = max(_power_of_two(BATCH_TOKENS / length), 1)
        warnings.append(
            f"global batch {batch:,} samples assumed ({batch * length:,} tokens); "
            "--global-batch sets it"
        )
        return batch
    batch = IMAGE_BATCH * chips
    warnings.append(f"global batch {batch:,} samples assumed ({IMAGE_BATCH} per chip)")
    return batch


def _power_of_two(value: float) -> int:
    return int(2 ** round(log2(max(value, 1.0))))
