"""Jobs for the harness: a folder with a request and its files, and the `result.json` that comes of it."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

POISON = np.uint32(0x7FD15EA5).view(np.float32)
N = 300


@dataclass
class HarnessJob:
    """A job under construction; every image of it has the same ``content``."""

    folder: Path
    content: bytes
    mode: str = "run"
    seconds: dict[str, float] = field(
        default_factory=lambda: {"case": 10.0, "after_timeout": 10.0, "probe": 20.0, "total": 60.0}
    )
    symbols: dict[str, str] = field(default_factory=dict)
    variables_in_module: bool = True
    cases: list[dict[str, Any]] = field(default_factory=list)
    timing: dict[str, Any] | None = None
    stop_at_hang: bool = False
    give_way: str = ""
    awaits: str = ""
    slots: tuple[str, ...] = ()

    def case(self, entry: str, *arguments: dict[str, Any], **more: Any) -> HarnessJob:  # noqa: ANN401 - JSON
        """One more case; without ``arguments`` it is given A (in), C (out) and N, of `N` elements."""
        name = str(len(self.cases))
        listed = list(arguments) or [
            self.array("A", "in", np.arange(N, dtype=np.float32), case=name),
            self.array("C", "out", np.full(N, POISON), case=name),
            self.value("N", "int32", N),
        ]
        shape = {"grid": [1, 1, 1], "block": [32, 1, 1], "shared": 0}
        self.cases.append(
            {"name": name, "kernel": "student", "entry": entry, "arguments": listed} | shape | more
        )
        return self

    def array(
        self, name: str, direction: str, content: NDArray[Any], offset: int = 0, case: str = ""
    ) -> dict[str, Any]:
        """An argument that is an array, with its file."""
        file = f"in/{case or len(self.cases)}-{name}.npy"
        (self.folder / "in").mkdir(exist_ok=True)
        np.save(self.folder / file, content, allow_pickle=False)
        return {"name": name, "direction": direction, "file": file, "offset": offset}

    def vectors(self) -> list[dict[str, Any]]:
        """Arguments of a kernel that takes `struct { int count; float *a, *c; }` by value, and N."""
        content = {"bytes": struct.pack("<ixxxxQQ", N, 0, 0).hex(), "pointers": {"v.a": 8, "v.c": 16}}
        return [
            {"name": "v", "direction": "value"} | content,
            self.array("v.a", "in", np.arange(N, dtype=np.float32)) | {"is_parameter": False},
            self.array("v.c", "out", np.full(N, POISON)) | {"is_parameter": False},
            self.value("N", "int32", N),
        ]

    def variables(self) -> list[dict[str, Any]]:
        """Arguments of a kernel that works on variables `A` and `C` of its module, and N."""
        held = (("A", "in", np.arange(N, dtype=np.float32)), ("C", "out", np.full(N, POISON)))
        return [
            *(self.array(*each) | {"is_parameter": False, "symbol": each[0]} for each in held),
            self.value("N", "int32", N),
        ]

    def value(self, name: str, dtype: str, value: float) -> dict[str, Any]:
        """An argument that is a scalar."""
        return {"name": name, "direction": "value", "dtype": dtype, "value": value}

    def write(self) -> str:
        """Put the request and the images into the folder; gives the path of the request."""
        for image in ("student.cubin", "helpers.cubin"):
            if not (self.folder / image).exists():
                (self.folder / image).write_bytes(self.content)
        kernel = {"image": "student.cubin", "entry": "copies", "variables": self.variables_in_module}
        symbols = {"symbols": self.symbols} if self.symbols else {}
        request = {
            "format": 1,
            "mode": self.mode,
            "seconds": self.seconds,
            "helpers": "helpers.cubin",
            "kernels": {"student": kernel | symbols},
            "cases": self.cases,
            "timing": self.timing,
            "stop_at_hang": self.stop_at_hang,
            "give_way": self.give_way,
            "awaits": self.awaits,
            "slots": list(self.slots),
        }
        path = self.folder / "request.json"
        path.write_text(json.dumps(request))
        return str(path)

    def answer(self) -> Answered:
        """Return the answer that the harness has left so far."""
        return Answered(self.folder, json.loads((self.folder / "result.json").read_text()))


@dataclass(frozen=True)
class Answered:
    """``result.json`` and the arrays beside it."""

    folder: Path
    content: dict[str, Any]

    @property
    def states(self) -> list[str]:
        """The states of the cases, in order."""
        return [case["state"] for case in self.content["cases"]]

    def case(self, at: int) -> dict[str, Any]:
        """All of a case."""
        found: dict[str, Any] = self.content["cases"][at]
        return found

    def output(self, at: int, name: str) -> NDArray[Any]:
        """An array that a case left."""
        array: NDArray[Any] = np.load(self.folder / self.case(at)["outputs"][name], allow_pickle=False)
        return array
