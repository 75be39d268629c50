"""Why a rank could not go on: a peer that is gone, or an error of its own."""

from __future__ import annotations

import traceback

from artery.runner.worker.link import PEER


def reason(error: Exception) -> str:
    """Say why a rank left: a collective failed because somebody else is gone, or its own error."""
    from torch.distributed import DistError

    text = str(error).split("\n", 1)[0]
    of_peers = isinstance(error, RuntimeError) and ("gloo" in text or "onnection" in text)
    if isinstance(error, DistError) or of_peers:
        return PEER
    return f"{type(error).__name__}: {text[:200]}"


def last_frames(error: Exception) -> str:
    """Return where an error comes from, for ``--debug``: frames of the user's own code last."""
    return "".join(traceback.format_exception(error)).split("\nframe #", 1)[0][-2000:].rstrip()
