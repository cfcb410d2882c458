"""A world with bait for attacks: secrets that must not come back, services that must not be reached.

Everything is temporary, holds one random number, and is gone afterwards.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

    from attacks.table import Attack

VARIABLE = "GRADER_ATTACK_CANARY"
DOCKER_SOCKET = "/var/run/docker.sock"

_POLL_SECONDS = 0.2
_BAIT = "import sys; secret = sys.argv[1]; print('ready', flush=True); sys.stdin.read()"


class World:
    """Canaries on this machine, while it is entered; ``contacts`` says who was talked to.

    Files: one that everybody may read in a temporary folder, one at home, one in another student's folder.
    Besides them a variable of our environment, a process with a secret among its arguments and in its
    environment, and listeners: TCP and UDP on 127.0.0.1, a unix socket with a path and an abstract one.
    Files that are made with `tempfile` meanwhile are in a folder of their own, so that leftovers are seen.
    """

    def __init__(self) -> None:
        number = secrets.token_hex(16)
        self.canary = f"canary:{number}"
        self.mark = f"attack-{number[:12]}"
        self.contacts: list[str] = []
        self._closing = threading.Event()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._lay_files(stack)
            self._redirect_temporary_files(stack)
            self._open_services(stack)
            self._start_bait(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    # --- what is laid out ----------------------------------------------------------------------------------

    def _lay_files(self, stack: ExitStack) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="grader-attack-"))
        stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.folder.chmod(0o755)
        self.submissions = self.folder / "submissions"
        home = Path.home() / f".{self.mark}"
        self.files = {
            "file": self.folder / "secret",
            "home": home,
            "neighbour": self.submissions / "neighbour" / "solution.cu",
        }
        stack.callback(home.unlink, missing_ok=True)
        for path in self.files.values():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{self.canary}\n", encoding="ascii")
            path.chmod(0o644)

    def _redirect_temporary_files(self, stack: ExitStack) -> None:
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        stack.callback(setattr, tempfile, "tempdir", tempfile.tempdir)
        tempfile.tempdir = str(self.temporary)

    def _open_services(self, stack: ExitStack) -> None:
        path = str(self.folder / "service")
        kinds: dict[str, tuple[int, int, tuple[str, int] | str]] = {
            "tcp": (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "udp": (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "unix": (socket.AF_UNIX, socket.SOCK_STREAM, path),
            "abstract": (socket.AF_UNIX, socket.SOCK_STREAM, f"\0{self.mark}"),
        }
        self._addresses = {"unix": path, "abstract": self.mark}
        for name, (family, kind, address) in kinds.items():
            service = stack.enter_context(socket.socket(family, kind))
            service.bind(address)
            if kind == socket.SOCK_STREAM:
                service.listen()
            if family == socket.AF_INET:
                self._addresses[name] = str(service.getsockname()[1])
            service.settimeout(_POLL_SECONDS)
            listener = threading.Thread(target=self._listen, args=(name, service), daemon=True)
            listener.start()
            stack.callback(listener.join)
        stack.callback(self._closing.set)
        Path(path).chmod(0o777)

    def _listen(self, name: str, service: socket.socket) -> None:
        """Note whoever comes, until we are closing."""
        while not self._closing.is_set():
            with suppress(TimeoutError):
                if service.type == socket.SOCK_DGRAM:
                    service.recvfrom(4096)
                else:
                    service.accept()[0].close()
                self.contacts.append(f"the {name} listener was reached")

    def _start_bait(self, stack: ExitStack) -> None:
        stack.callback(_restore, VARIABLE, os.environ.get(VARIABLE))
        os.environ[VARIABLE] = self.canary
        bait = stack.enter_context(
            subprocess.Popen(
                [sys.executable, "-S", "-c", _BAIT, self.canary],
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        )
        if bait.stdout:
            bait.stdout.readline()  # from now on its arguments can be seen

    # --- what attacks get ----------------------------------------------------------------------------------

    def mark_of(self, attack: Attack) -> str:
        """A name that only this attack's leavings have."""
        return f"{self.mark}-{attack.name}"

    def arguments(self, attack: Attack) -> tuple[str, ...]:
        """Places of the canaries, for a program: ``file=/tmp/…``, ``tcp=41234``, … (see `attack.h`)."""
        places = {name: str(path) for name, path in self.files.items()} | self._addresses
        places |= {"docker": DOCKER_SOCKET, "mark": self.mark_of(attack)}
        return tuple(f"{name}={bait}" for name, bait in places.items())

    def hand_in(self, attack: Attack) -> Path:
        """Put an attack where students hand in; gives the folder, in which it is the one submission."""
        folder = self.submissions / attack.name
        folder.mkdir(exist_ok=True)
        path = folder / (attack.named or attack.path.name)
        with suppress(FileNotFoundError):
            path.unlink()
        if attack.is_link:
            path.symlink_to(self.files["file"])
            return folder
        text = attack.path.read_text("utf-8")
        for name, canary in self.files.items():
            text = text.replace(f"/canary/{name}", str(canary))
        path.write_text(text, encoding="utf-8")
        return folder


def _restore(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value
