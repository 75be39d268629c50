"""The last part of ``demo``: two processes train here, one is killed, the weights come out alike.

``artery demo`` calls :func:`demo_train` where torch is installed; it takes about half a minute on
two idle cores, leaves nothing behind, and imports torch only in the processes it starts and in the
count of the model's operators.
"""

from __future__ import annotations

from typing import Any, Final

from artery.answers.telling import Heard, nobody
from artery.errors import ArteryError

MODEL: Final = "transformer"
RUN: Final[dict[str, Any]] = {
    "data": "synthetic", "size": 32, "steps": 24, "global_batch": 32, "save_every": 6, "lr": 0.05,
    "ranks": 2, "evaluate": False,
}  # fmt: skip
KILL: Final = "kill:rank=1,step=15"
"""Between two checkpoints, those of steps 12 and 18: what was done since step 12 is lost."""


def demo_train(note: Heard = nobody) -> dict[str, Any]:
    """Train the same thing undisturbed and with a rank killed, and predict its step.

    Returns ``model``, ``ranks``, ``steps``, ``fault``, ``restarts``, ``lost_steps``,
    ``recovery_s`` (from the notice to the first new step), ``digest`` of the undisturbed run's
    weights, ``digest_after_kill``, ``same_weights``, ``predicted_step_s``, ``measured_step_s`` and
    ``load`` (the machine's load average while it was measured); ``{"error": why}`` alone where
    processes cannot be started or do not meet. ``note`` hears what is going on.
    """
    try:
        return _trained(note)
    except ArteryError as error:
        return {"error": str(error).split("\n", 1)[0]}


def _trained(note: Heard) -> dict[str, Any]:
    from artery.answers.train import train
    from artery.answers.train.compare import compare_training
    from artery.runner.probing.measured import Run

    note("training undisturbed")
    calm = train(MODEL, **RUN).result
    note(f"training the same again, with {KILL}")
    killed = train(MODEL, **RUN, faults=(KILL,)).result
    batch = RUN["global_batch"] // RUN["ranks"]
    run = Run(MODEL, RUN["data"], RUN["size"], batch=batch)
    compared = compare_training(run, RUN["ranks"], rounds=3, progress=note)
    return {
        "model": MODEL,
        "ranks": RUN["ranks"],
        "steps": killed.steps,
        "fault": KILL,
        "restarts": killed.restarts,
        "lost_steps": killed.lost_steps,
        "recovery_s": max((one.total for one in killed.recoveries), default=None),
        "digest": calm.digest,
        "digest_after_kill": killed.digest,
        "same_weights": calm.digest is not None and calm.digest == killed.digest,
        "predicted_step_s": compared.predicted.root.value,
        "measured_step_s": compared.measured.root.value,
        "load": max(compared.loads),
    }
