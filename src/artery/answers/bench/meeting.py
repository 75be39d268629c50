"""Where the processes of a measurement meet, and where each of them is reached."""

from __future__ import annotations

import os
import socket
from contextlib import closing, suppress
from urllib.parse import urlsplit

from artery.errors import RunError
from artery.runner.launch import World


def meeting_of(here: World) -> str:
    """Return where all ranks meet, torchrun's place included, which the environment says."""
    if here.meeting != "env://":
        return here.meeting
    return f"tcp://{os.environ.get('MASTER_ADDR', '127.0.0.1')}"


def check_meeting(here: World) -> None:
    """Raise :class:`artery.errors.RunError` if nobody knows the host where all ranks meet.

    torch would look for it until the whole run's time is up.
    """
    where = urlsplit(here.meeting)
    if where.scheme != "tcp" or where.hostname is None:
        return
    try:
        socket.getaddrinfo(where.hostname, where.port)
    except OSError as error:
        raise unmet(here, f"{where.hostname}: {error.strerror or error}") from error


def unmet(here: World, why: str) -> RunError:
    """Return the error that says where a rank has not met the others."""
    return RunError(
        f"rank {here.rank} of {here.size} did not meet the others at {here.meeting} ({why}): set "
        "MASTER_ADDR and MASTER_PORT to where rank 0 can be reached"
    )


def own_address(meeting: str) -> str:
    """Return ``NAME ADDRESS`` of this host: the address that leads to the ``meeting`` place.

    The loopback's where all meet on this host, or in a file.
    """
    where = urlsplit(meeting).hostname or "127.0.0.1"
    with suppress(OSError), closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as one:
        one.connect((where, 9))  # nothing is sent: the kernel chooses the way
        return f"{socket.gethostname()} {one.getsockname()[0]}"
    return f"{socket.gethostname()} 127.0.0.1"


def reached(theirs: str, own: str) -> str:
    """Return where the host of the :func:`own_address` ``theirs`` is reached from ``own``.

    By its name where all that it knows is its loopback, which is another one's.
    """
    name, address = theirs.split()
    return name if address.startswith("127.") and name != own.split(maxsplit=1)[0] else address


def apart(theirs: str, own: str) -> bool:
    """Return whether two hosts share a name and not an address: namespaces of one machine."""
    return theirs.split(maxsplit=1)[0] == own.split(maxsplit=1)[0] and theirs != own
