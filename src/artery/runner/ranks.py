"""How a process joins the group of all ranks, and how it ends although gloo has threads in it.

A thread of gloo that lets go of a tensor, or calls back, while the interpreter ends aborts the
process (pytorch/pytorch#190489): its exit code and its last words would not be its own. The threads
end with the group, and that with the last one who holds it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn


def gather(backend: str, **how: Any) -> None:  # noqa: ANN401 - torch's own, which it checks
    """Make the group of all ranks; ``how`` as ``torch.distributed.init_process_group`` takes it."""
    import torch.distributed.nn.functional

    # The functions of that module have the group that there is when it is imported as a default
    # argument, for ever. Optimizers import it: it must be there before the group is.
    torch.distributed.init_process_group(backend, **how)


def end(part: Callable[[], int]) -> NoReturn:
    """Do a process's ``part`` and end the process with the exit code that it returns.

    An error is told as the interpreter tells it, with exit code 1. Nobody waits for threads or for
    whoever still holds a group, as the frames of an error do; MPI alone wants an orderly end.
    """
    try:
        code = part()
    except Exception:  # noqa: BLE001 - as at the interpreter's end
        sys.excepthook(*sys.exc_info())
        code = 1
    if "mpi4py" in sys.modules:
        sys.exit(code)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)
