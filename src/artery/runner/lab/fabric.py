"""An InfiniBand fabric without hardware: ibsim plays the switches, OpenSM routes them for real.

Both are in namespaces of their own, for ibsim's sockets are one per network, and work on a file
system in memory that is gone with them.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from typing import Final

from artery.errors import InputError, Problem, RunError
from artery.runner.lab.modes import Mode, unshare

TOOLS: Final = ("ibsim", "opensm", "ibnetdiscover")
"""What is needed; Debian has them as ibsim-utils, opensm and infiniband-diags."""

ENGINES: Final = ("ftree", "minhop", "updn", "dnup", "dfsssp", "sssp", "lash", "dor")
"""OpenSM's routing engines that need no further file (``opensm --help``, 3.3.23)."""

PATIENCE: Final = 120.0
"""Seconds until the fabric must be up (assumed)."""

_SCRIPT: Final = """
set -eu
ip link set lo up
mount -t tmpfs artery-lab /tmp
cd /tmp
cat > net
mkfifo control
exec 7<>control
ibsim -s net < control > ibsim.log 2>&1 &
tries=0
until grep -q "Network ready\\|ibwarn\\|sim>" ibsim.log 2>/dev/null || [ $tries -ge 50 ]; do
  tries=$((tries + 1)); sleep 0.02
done
export LD_PRELOAD="$1" SIM_HOST="$2" OSM_CACHE_DIR=/tmp OSM_TMP_DIR=/tmp
opensm -R "$3" -o -r -f /tmp/opensm.log -D 0x43 > opensm.out 2>&1 || { cat opensm.out >&2; exit 3; }
for part in ibnetdiscover iblinkinfo; do "$part" > "$part.out" 2>> diags.err; done
if [ "$4" != 0 ]; then perfquery "$4" 1 > perfquery.out 2>> diags.err; fi
LD_PRELOAD=
for part in opensm-lfts.dump opensm.log ibnetdiscover.out iblinkinfo.out perfquery.out; do
  if [ -e "$part" ]; then printf '\\001%s\\n' "$part"; cat "$part"; fi
done
"""

_MARK: Final = "\x01"


@dataclass(frozen=True, slots=True)
class Fabric:
    """What the tools wrote of a fabric that was up; ``files`` by name."""

    engine: str
    files: dict[str, str]

    @property
    def tables(self) -> str:
        """OpenSM's dump of the forwarding tables of all switches."""
        return self.files["opensm-lfts.dump"]


def bring_up(net: str, host: str, engine: str, mode: Mode, *, counters: int = 0) -> Fabric:
    """Return the fabric of an ibsim ``net`` after OpenSM, run on ``host``, has routed it.

    ``counters`` is the local identifier whose port 1 is asked for its counters, 0 none. Raises
    ``InputError`` where the tools are missing, ``RunError`` where one fails.
    """
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    library = _preloaded()
    if missing or library is None:
        found = f"not on PATH: {', '.join(missing)}" if missing else "no libumad2sim.so"
        fix = "apt install ibsim-utils opensm infiniband-diags"
        raise InputError(Problem(field="lab", found=found, rule="must be installed", fix=fix))
    script = ["sh", "-c", _SCRIPT, "sh", library, host, engine, str(counters)]
    # Where this process is killed, what it started ends as well.
    tied = ["setpriv", "--pdeathsig", "KILL", "--", *unshare(mode), *script]
    try:
        done = subprocess.run(
            tied, input=net, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        raise RunError(f"the fabric was not up after {PATIENCE:.0f} s") from None
    if done.returncode:
        words = done.stderr.strip().splitlines()[-6:]
        raise RunError("\n  ".join(["the fabric did not come up", *words]))
    files = {}
    for part in done.stdout.split(_MARK)[1:]:
        name, _, text = part.partition("\n")
        files[name] = text
    return Fabric(_used(files.get("opensm.log", ""), engine), files)


def _used(log: str, asked: str) -> str:
    """Return the engine that OpenSM took: it falls back where the asked one cannot."""
    taken = [line for line in log.splitlines() if "tables configured on all switches" in line]
    return taken[-1].rpartition(":")[2].split()[0] if taken else asked


def _preloaded() -> str | None:
    """Return the library that lets the tools speak to ibsim, where Debian or others put it."""
    from pathlib import Path

    for folder in ("/usr/lib", "/usr/lib64", "/usr/local/lib"):
        found = sorted(Path(folder).glob("**/umad2sim/libumad2sim.so"))
        if found:
            return str(found[0])
    return None
