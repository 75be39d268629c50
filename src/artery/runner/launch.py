"""Starts the processes of a run on this machine and ends them; finds the ranks that others started.

``launched`` starts N copies of a command with the environment that torchrun would give them and a
store in a private folder (no port is opened for it), hears their lines, and leaves neither process
nor file behind: not after an error, a timeout, Ctrl-C or SIGTERM, and not after ``kill -9``, for
each process watches its standard input and goes when that ends.

``world`` tells a process which rank it is: started by ``launched``, by torchrun, by mpirun, or by
srun, on any number of hosts.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, Final, Literal

from artery.errors import InputError, Problem, RunError
from artery.formats.slurm.hostlist import expand

STORE: Final = "ARTERY_STORE"
"""Environment variable: the file through which processes started here find each other."""

FOLDER: Final = "ARTERY_RUN_FOLDER"
"""Environment variable: the private folder of a run, gone when the run ends."""

WATCHED: Final = "ARTERY_WATCHED"
"""Environment variable: standard input ends when whoever started the process is gone."""

_LOOK: Final = 0.02
"""Seconds between two looks at the processes (assumed)."""

GRACE: Final = 3.0
"""Seconds between SIGTERM and SIGKILL (assumed)."""

_TRIES: Final = 50
"""How often a folder is taken away in which somebody still writes (assumed)."""

_MOMENT: Final = 0.2
"""Seconds in which the processes that failed together have all been seen to (assumed)."""

_TAIL: Final = 12
"""Lines of a failed process that are shown (assumed)."""

Origin = Literal["artery", "torchrun", "mpi", "slurm"]


@dataclass(frozen=True, slots=True)
class World:
    """Which of how many processes this is, here and on its host, and where all of them meet.

    ``meeting`` is the init method of ``torch.distributed.init_process_group``.
    """

    rank: int
    size: int
    local_rank: int
    local_size: int
    meeting: str
    origin: Origin

    @property
    def hosts(self) -> int:
        """How many hosts there are, if all have as many processes as this one."""
        return -(-self.size // max(self.local_size, 1))


def world(environ: Mapping[str, str] = os.environ) -> World | None:
    """Return the world that this process was started in; ``None`` if it stands alone.

    Raises :class:`artery.errors.InputError` if what the environment says makes no sense.
    """
    if "RANK" in environ and "WORLD_SIZE" in environ:
        rank, size = _number(environ, "RANK"), _number(environ, "WORLD_SIZE")
        local = _number(environ, "LOCAL_RANK", rank)
        locals_ = _number(environ, "LOCAL_WORLD_SIZE", size)
        store = environ.get(STORE)
        if store is not None:
            return World(rank, size, local, locals_, Path(store).as_uri(), "artery")
        return World(rank, size, local, locals_, "env://", "torchrun")
    for prefix, at in (("OMPI_COMM_WORLD_", "OMPI_COMM_WORLD_LOCAL_"), ("PMI_", "MPI_LOCAL")):
        if f"{prefix}RANK" in environ and f"{prefix}SIZE" in environ:
            rank, size = _number(environ, f"{prefix}RANK"), _number(environ, f"{prefix}SIZE")
            local = _number(environ, f"{at}RANK", rank)
            locals_ = _number(environ, f"{at}SIZE", size)
            key = environ.get("PMIX_NAMESPACE", str(os.getppid()))
            return World(rank, size, local, locals_, _meeting(environ, "127.0.0.1", key), "mpi")
    if _number(environ, "SLURM_STEP_NUM_TASKS", 0) > 1 and "SLURM_PROCID" in environ:
        return _slurm(environ)
    return None


def _slurm(environ: Mapping[str, str]) -> World:
    """Return the world of a step of srun; its first host is where all meet."""
    size = _number(environ, "SLURM_STEP_NUM_TASKS")
    hosts = expand(environ.get("SLURM_STEP_NODELIST", "127.0.0.1")) or ["127.0.0.1"]
    locals_ = -(-size // _number(environ, "SLURM_STEP_NUM_NODES", len(hosts)))
    key = f"{environ.get('SLURM_JOB_ID', '0')}.{environ.get('SLURM_STEP_ID', '0')}"
    meeting = _meeting(environ, hosts[0], key)
    rank = _number(environ, "SLURM_PROCID")
    return World(rank, size, _number(environ, "SLURM_LOCALID", 0), locals_, meeting, "slurm")


def _meeting(environ: Mapping[str, str], host: str, key: str) -> str:
    """Return where the ranks of a launcher that names no port meet.

    MASTER_ADDR and MASTER_PORT if they are set; else ``host``, and a port that follows from the
    job's ``key``, the same on every rank (20000 to 29999, below the ephemeral ports of Linux).
    """
    port = 20000 + sum(ord(letter) * (place + 1) ** 3 for place, letter in enumerate(key)) % 10000
    return f"tcp://{environ.get('MASTER_ADDR', host)}:{environ.get('MASTER_PORT', port)}"


def _number(environ: Mapping[str, str], name: str, default: int | None = None) -> int:
    text = environ.get(name)
    if text is None and default is not None:
        return default
    if text is None or not (text.isascii() and text.isdigit()):
        found = f"{name}={text}" if text is not None else f"{name} is not set"
        fix = "start all ranks with one launcher, or unset the variable"
        raise InputError(Problem(found=found, rule="must be a whole number", fix=fix))
    return int(text)


def stay_only_while_watched() -> None:
    """End this process as soon as whoever started it is gone; call it once, early.

    Nothing happens in a process that :func:`launched` did not start.
    """
    if os.environ.get(WATCHED) != "1":
        return

    def watch() -> None:
        until_input_ends()
        folder = os.environ.get(FOLDER)
        if folder is not None:
            gone(Path(folder))
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="artery-watch").start()


def until_input_ends() -> None:
    """Return once standard input has ended, as it does when whoever held its other end is gone."""
    try:
        # Unbuffered: a thread that holds the lock of sys.stdin aborts the interpreter's end.
        while os.read(0, 4096):
            pass
    except OSError:
        return


def gone(folder: Path) -> None:
    """Take a run's folder away, also while somebody who is just ending still writes there."""
    for _ in range(_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(_LOOK)


def launched(
    command: Sequence[str],
    ranks: int,
    *,
    folder: Path,
    timeout: float,
    environ: Mapping[str, str] | None = None,
    heard: Callable[[str], None] | None = None,
) -> None:
    """Run ``ranks`` copies of ``command`` until all have ended well.

    ``folder`` is a run's (:func:`run_folder`); ``environ`` is laid over this process's own, and
    each copy gets RANK, WORLD_SIZE and their local kin. ``heard`` gets what rank 0 prints, line by
    line. Raises :class:`artery.errors.RunError` with the last lines of the first process that
    failed, or if ``timeout`` seconds are over; all are gone by then.
    """
    shared = {**os.environ, **(environ or {}), FOLDER: str(folder), STORE: str(folder / "store")}
    commands = [
        (command, {**shared, "RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank),
                   "LOCAL_WORLD_SIZE": str(ranks)})
        for rank in range(ranks)
    ]  # fmt: skip
    started(commands, folder=folder, timeout=timeout, heard=heard)


def started(
    commands: Sequence[tuple[Sequence[str], Mapping[str, str]]],
    *,
    folder: Path,
    timeout: float,
    heard: Callable[[str], None] | None = None,
) -> None:
    """Run commands, each with its whole environment, until all have ended well.

    As :func:`launched`, for commands that differ, or start processes of their own (mpirun).
    """
    processes: list[subprocess.Popen[bytes]] = []
    end = time.monotonic() + timeout
    try:
        for number, (command, environ) in enumerate(commands):
            with (
                (folder / f"{number}.out").open("wb") as out,
                (folder / f"{number}.err").open("wb") as err,
            ):
                processes.append(
                    subprocess.Popen(
                        command,
                        stdin=subprocess.PIPE,
                        stdout=out,
                        stderr=err,
                        env={**environ, WATCHED: "1"},
                        start_new_session=True,
                    )
                )
        with (folder / "0.out").open("rb") as lines:
            _attend(processes, lines, folder, end, heard)
    finally:
        _end(processes)


class TimeUpError(RunError):
    """Time was up: the limit that the caller set for a run is broken."""

    exit_code = 5


def _attend(
    processes: list[subprocess.Popen[bytes]],
    lines: IO[bytes],
    folder: Path,
    end: float,
    heard: Callable[[str], None] | None,
) -> None:
    """Return once all processes have ended well, hearing what the first one prints."""
    rest = b""
    while True:
        codes = [process.poll() for process in processes]
        rest = _hear(rest + lines.read(), heard)
        if any(codes):
            kind = TimeUpError if time.monotonic() > end else RunError
            raise kind(_first_failed(processes, folder))
        if all(code == 0 for code in codes):
            return
        if time.monotonic() > end:
            late = ", ".join(str(n) for n, code in enumerate(codes) if code is None)
            raise TimeUpError(
                f"time was up and process {late} still ran; allow more with --timeout, or find "
                f"what it waits for{_last_words(folder, codes.index(None))}"
            )
        time.sleep(_LOOK)


def _hear(text: bytes, heard: Callable[[str], None] | None) -> bytes:
    """Pass on whole lines and return what is left."""
    *whole, rest = text.split(b"\n")
    if heard is not None:
        for line in whole:
            heard(line.decode("utf-8", errors="replace"))
    return rest


def _first_failed(processes: list[subprocess.Popen[bytes]], folder: Path) -> str:
    """Return how the process that failed first ended, with its last words.

    Its peers complain of a lost connection soon after, perhaps before anybody looked: a moment
    is given to those whose fault it may be, and who does not speak of a connection is taken.
    """
    time.sleep(_MOMENT)
    codes = {number: code for number, one in enumerate(processes) if (code := one.poll())}
    number = min(codes, key=lambda one: (codes[one] > 0, _lost_a_peer(folder, one), one))
    code = codes[number]
    how = f"ended with exit code {code}"
    if code < 0:
        how = f"was killed by signal {-code} ({signal.strsignal(-code)})"
    return f"process {number} {how}{_last_words(folder, number)}"


def _lost_a_peer(folder: Path, number: int) -> bool:
    text = _last_words(folder, number)
    return any(words in text for words in ("closed by peer", "reset by peer", "Connection refused"))


def _last_words(folder: Path, number: int) -> str:
    text = (folder / f"{number}.err").read_text("utf-8", errors="replace").strip()
    lines = text.splitlines()[-_TAIL:]
    return "".join(f"\n  {line}" for line in lines)


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    """End all processes and whatever they started: first asked, then killed."""
    for process in processes:
        if process.stdin is not None:
            process.stdin.close()
        if process.poll() is None:
            _signal(process, signal.SIGTERM)
    end = time.monotonic() + GRACE
    for process in processes:
        try:
            process.wait(max(end - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            _signal(process, signal.SIGKILL)
            process.wait()
        _signal(process, signal.SIGKILL)  # what it left in its session


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return


@contextmanager
def run_folder() -> Iterator[Path]:
    """Yield a new private folder that is gone afterwards, also if the process is asked to end."""
    folder = Path(tempfile.mkdtemp(prefix="artery-run-"))
    before = _end_cleanly()
    try:
        yield folder
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)
        gone(folder)


def _end_cleanly() -> Callable[[int, FrameType | None], object] | int | None:
    """Make SIGTERM end this process as an exception would; return what it did before."""
    if threading.current_thread() is not threading.main_thread():
        return None

    def leave(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, leave)
    return before
