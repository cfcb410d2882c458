"""The address of a scheduler that another user started, and whether one answers there.

Dask's client waits for ever for a greeting that does not come, and reads the first bytes of any other server
as the length of one.
"""

from __future__ import annotations

import re
import socket
import time
from typing import Any

from grader.base.errors import UsageError
from grader.base.text import escaped

_ADDRESS = re.compile(r"(?:tcp|tls)://(?:\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+):(\d{1,5})")
_LAST_PORT = 65_535

_STARTING = 2.0
"""Seconds for a port to be opened: a script may start the scheduler just before, which takes about one."""

_REACHING = 5.0
"""Seconds for a machine to say whether the port is open."""

ANSWERING = 20.0
"""Seconds for a scheduler to answer, which may be busy."""


def is_address(text: str) -> bool:
    """True if the text is an address of a scheduler: with its port."""
    address = _ADDRESS.fullmatch(text)
    return address is not None and 0 < int(address[1]) <= _LAST_PORT


def must_answer(where: str) -> None:
    """Raise UsageError with the cause where no scheduler of Dask answers at an address."""
    import asyncio  # noqa: PLC0415 - who grades on one machine does without

    arguments = _connection_arguments(where)
    try:
        _reach(where)
    except OSError as problem:
        why = problem.strerror or "it takes too long"
        raise UsageError(
            f"--cluster {escaped(where, 100)}: nothing answers there ({why}); start a scheduler with `dask "
            "scheduler`, which prints its address"
        ) from None
    try:
        asyncio.run(asyncio.wait_for(_greet(where, arguments), ANSWERING))
    except Exception as problem:  # noqa: BLE001 - what others say is read as if it were a greeting
        raise UsageError(
            f"--cluster {escaped(where, 100)}: {_description(where, problem)}; name the address that `dask "
            "scheduler` prints"
        ) from None


def _reach(where: str) -> None:
    """Connect to a port and leave; raises OSError."""
    host, _, port = where.partition("://")[2].rpartition(":")
    deadline = time.monotonic() + _STARTING
    while True:
        try:
            socket.create_connection((host.strip("[]"), int(port)), _REACHING).close()
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
        else:
            return


async def _greet(where: str, arguments: dict[str, Any]) -> None:
    """Exchange Dask's greeting, and leave."""
    from distributed.comm import connect  # noqa: PLC0415 - an extra

    # Who hangs up at once is tried again and again, for that may be the network's fault.
    connection = await connect(where, timeout=ANSWERING / 2, **arguments)
    connection.abort()


def _description(where: str, problem: Exception) -> str:
    """Description of what answered in place of a scheduler."""
    if isinstance(problem, TimeoutError):
        return f"what listens there does not greet as a scheduler does, in {ANSWERING:.0f} s"
    if isinstance(problem, RuntimeError):  # Dask's own configuration does not let it connect
        return escaped(" ".join(str(problem).split()), 200)
    return f"what answers there is no scheduler of Dask over {where.partition(':')[0]}"


def _connection_arguments(where: str) -> dict[str, Any]:
    """Dask's configuration of connections; raises UsageError where TLS has no certificates."""
    from distributed import Security  # noqa: PLC0415 - an extra

    names = "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, …__TLS__CLIENT__CERT and …__TLS__CLIENT__KEY"
    try:
        arguments: dict[str, Any] = Security().get_connection_args("client")
    except OSError as problem:
        why = problem.strerror or str(problem)
        raise UsageError(
            f"--cluster {escaped(where, 100)}: the certificates for TLS cannot be read ({why}); they are "
            f"those that are named with {names}"
        ) from None
    if where.startswith("tls:") and arguments["ssl_context"] is None:
        raise UsageError(
            f"--cluster {escaped(where, 100)}: there are no certificates for TLS; name them with {names}"
        )
    return arguments
