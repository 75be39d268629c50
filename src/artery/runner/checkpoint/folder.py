"""A folder of checkpoints, one sub-folder per step: ``step-00000050/state.bin``, ``manifest.json``.

A checkpoint is made in a temporary folder: the state, synced; then the manifest with its length
and SHA-256, synced; then the folder is renamed and the parent synced. One without a manifest, or
whose state does not match it, does not count.
"""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

SCHEMA: Final = "artery.checkpoint/1"
_NAME: Final = re.compile(r"step-(\d{8,})")
_TEMPORARY: Final = ".part-"
_COUNT: Final = itertools.count()
_PUTTING: Final = threading.Lock()


class Torn(Exception):  # noqa: N818 - what it is, not an error of ours
    """A checkpoint that cannot be used; the message says why."""


class Folder:
    """The checkpoints in ``path``, of which the last ``keep`` are kept."""

    def __init__(self, path: str | Path, keep: int = 3) -> None:
        self.path = Path(path)
        self.keep = keep

    def steps(self) -> list[int]:
        """Return the steps of all checkpoints that are complete, in order; they may be torn."""
        if not self.path.is_dir():
            return []
        found = ((_NAME.fullmatch(each.name), each) for each in self.path.iterdir())
        return sorted(
            int(name[1]) for name, each in found if name and (each / "manifest.json").is_file()
        )

    def write(
        self,
        step: int,
        state: bytes,
        about: dict[str, Any],
        *,
        target: str = "",
        halfway: Callable[[], None] = lambda: None,
    ) -> bool:
        """Write the state after ``step`` steps; return whether it had to be written.

        A good checkpoint of the same step stays. ``target`` and ``halfway`` are for drills: where
        the bytes go instead (``/dev/full``), and what is called when half of them are written.

        Raises:
            OSError: the disk is full, or cannot be written; nothing has changed.
        """
        digest = hashlib.sha256(state).hexdigest()
        if self._holds(step, digest):
            return False
        self.path.mkdir(parents=True, exist_ok=True)
        part = self._temporary()
        try:
            part.mkdir()
            _write_synced(Path(target) if target else part / "state.bin", state, halfway)
            manifest = {
                "schema": SCHEMA,
                "step": step,
                "bytes": len(state),
                "sha256": digest,
                **about,
            }
            _write_synced(part / "manifest.json", json.dumps(manifest, indent=1).encode())
            self._put(part, step)
        except OSError as error:
            shutil.rmtree(part, ignore_errors=True)
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            return False  # somebody else put the same step there in the same moment
        self._prune()
        return True

    def read(self, step: int) -> tuple[bytes, dict[str, Any]]:
        """Return the state after ``step`` steps and its manifest; :class:`Torn` if it is not whole.

        What is torn is put aside (``torn-...``), so that nobody tries it again.
        """
        place = self._place(step)
        try:
            manifest = json.loads((place / "manifest.json").read_text("utf-8"))
            state = (place / "state.bin").read_bytes()
            if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA:
                raise Torn(f"{place.name}: no manifest of a checkpoint")
            if len(state) != manifest["bytes"]:
                raise Torn(f"{place.name}: {len(state)} bytes instead of {manifest['bytes']}")
            if hashlib.sha256(state).hexdigest() != manifest["sha256"]:
                raise Torn(f"{place.name}: the checksum does not match")
        except OSError as error:
            raise Torn(f"{place.name}: {error.strerror or error}") from error
        except (ValueError, KeyError) as error:
            raise Torn(f"{place.name}: its manifest cannot be read") from error
        return state, manifest

    def put_aside(self, step: int) -> None:
        """Rename a torn checkpoint to ``torn-...``: it counts no more and can be looked at."""
        place = self._place(step)
        aside = place.with_name(f"torn-{step:08d}")
        shutil.rmtree(aside, ignore_errors=True)
        try:
            place.rename(aside)
        except OSError:
            shutil.rmtree(place, ignore_errors=True)

    def newest(self, most: int | None = None) -> Iterator[int]:
        """Yield the steps of complete checkpoints, newest first, none above ``most``."""
        yield from (s for s in reversed(self.steps()) if most is None or s <= most)

    def sweep(self) -> None:
        """Remove what writers that were killed left half done."""
        if self.path.is_dir():
            for each in self.path.iterdir():
                if each.name.startswith(_TEMPORARY) and not _alive(each.name.rsplit("-", 2)[-2]):
                    shutil.rmtree(each, ignore_errors=True)

    def _place(self, step: int) -> Path:
        return self.path / f"step-{step:08d}"

    def _temporary(self) -> Path:
        return self.path / f"{_TEMPORARY}{os.getpid()}-{next(_COUNT)}"

    def _holds(self, step: int, digest: str) -> bool:
        """Whether a good checkpoint of this very state is there."""
        try:
            _, manifest = self.read(step)
        except Torn:
            return False
        return bool(manifest["sha256"] == digest)

    def _put(self, part: Path, step: int) -> None:
        place = self._place(step)
        with _PUTTING:
            if place.exists():
                old = self._temporary()
                place.rename(old)
                part.rename(place)
                shutil.rmtree(old, ignore_errors=True)
            else:
                part.rename(place)
        _sync_folder(self.path)

    def _prune(self) -> None:
        for step in self.steps()[: -self.keep]:
            shutil.rmtree(self._place(step), ignore_errors=True)


def _write_synced(path: Path, content: bytes, halfway: Callable[[], None] = lambda: None) -> None:
    with path.open("wb") as file:
        half = len(content) // 2
        file.write(content[:half])
        file.flush()
        halfway()
        file.write(content[half:])
        file.flush()
        if path.is_file():
            os.fsync(file.fileno())


def _sync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _alive(pid: str) -> bool:
    """Whether a process of this number runs here: another host's writer is taken for dead."""
    try:
        os.kill(int(pid), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True
