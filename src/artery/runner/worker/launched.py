"""The rank that torchrun, or srun in a Slurm job, gave this process: read from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from artery.formats.hostlist import expand


@dataclass(frozen=True, slots=True)
class Rank:
    """A place in a world that others made; ``master`` and ``port`` are where its ranks meet."""

    rank: int
    ranks: int
    master: str
    port: int

    def environment(self) -> dict[str, str]:
        """Return it as torch reads it."""
        return {
            "RANK": str(self.rank),
            "WORLD_SIZE": str(self.ranks),
            "MASTER_ADDR": self.master,
            "MASTER_PORT": str(self.port),
        }


def given(surroundings: Mapping[str, str]) -> Rank | None:
    """Return the rank that the environment gives this process, ``None`` if it gives none.

    torchrun and other launchers set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT; srun sets
    SLURM_PROCID, SLURM_NTASKS, SLURM_JOB_NODELIST and SLURM_JOB_ID: the first node is the master,
    and the port follows from the job's number.
    """
    if "RANK" in surroundings and "WORLD_SIZE" in surroundings:
        master = surroundings.get("MASTER_ADDR", "127.0.0.1")
        port = int(surroundings.get("MASTER_PORT", "29500"))
        return Rank(int(surroundings["RANK"]), int(surroundings["WORLD_SIZE"]), master, port)
    if "SLURM_PROCID" in surroundings and "SLURM_NTASKS" in surroundings:
        nodes = expand(surroundings.get("SLURM_JOB_NODELIST", "127.0.0.1"))
        port = 20_000 + int(surroundings.get("SLURM_JOB_ID", "0")) % 20_000
        ranks = int(surroundings["SLURM_NTASKS"])
        return Rank(int(surroundings["SLURM_PROCID"]), ranks, nodes[0], port)
    return None
