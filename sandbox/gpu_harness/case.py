"""One launch: arrays to the device, the kernel, and what came of it as ``result.json`` says it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from arena import Array, as_records
from device_fault import DeviceFault
from variables import Variables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from arena import Arena
    from device import Device
    from device_code import Code

    Room: TypeAlias = Callable[[Device, Sequence[Array]], Arena]
    """A function that finds room for arrays on a device."""

Record: TypeAlias = dict[str, Any]

ADDRESS = np.dtype(np.uintp)

ENDED_BY_DRIVER = "cudaErrorLaunchTimeout"
"""Error of the driver's own time limit, a few seconds where a screen is connected to the device."""

OF_THE_MACHINE = frozenset(
    {"cudaErrorECCUncorrectable", "cudaErrorNvlinkUncorrectable", "cudaErrorContained"}
    | {"cudaErrorDevicesUnavailable", "cudaErrorSystemNotReady"}
)
"""Errors that show while a kernel runs and that no kernel causes."""


def run_case(
    device: Device,
    case: Mapping[str, Any],
    code: Code,
    folder: Path,
    room: Room,
    ready: Callable[[dict[str, list[int]]], None],
) -> Record:
    """Launch one case; ``ready`` gets the places of the arrays, just before.

    A module with variables is loaded for this case alone: what a kernel leaves in a `__device__` variable is
    gone with it, as it is in the emulator, and a case gives the same wherever it stands in the order. Raises
    DeviceFault where the fault is not the kernel's: no memory, no such kernel, a device that is broken.
    """
    launch = prepare_launch(device, case, code, folder, room)
    ready(launch.places_and_sizes())
    launched = _timed if launch.arena.is_read_back else _launched
    record = launched(device, case, launch.function, launch.values)
    if record["state"] == "done":
        record |= _outcome(launch.arena, launch.variables, case["name"], folder)
    if record["state"] in ("done", "refused"):
        launch.arena.release()
    return record


class PreparedLaunch(NamedTuple):
    """A launch whose arrays are on the device."""

    function: int
    values: list[np.generic]
    arrays: list[Array]
    arena: Arena
    variables: Variables

    def places_and_sizes(self) -> dict[str, list[int]]:
        """The address and the bytes of each array."""
        places = self.arena.places() | self.variables.places()
        return {array.name: [places[array.name], array.content.nbytes] for array in self.arrays}


def prepare_launch(
    device: Device, case: Mapping[str, Any], code: Code, folder: Path, room: Room
) -> PreparedLaunch:
    """Copy a case's arrays to the device, into a module as the file has it; raises as `run_case` does."""
    array_arguments = [argument for argument in case["arguments"] if argument["direction"] != "value"]
    arrays = [_array(argument, folder) for argument in array_arguments]
    in_memory = [a for a, argument in zip(arrays, array_arguments, strict=True) if not argument.get("symbol")]
    in_variables = [a for a, argument in zip(arrays, array_arguments, strict=True) if argument.get("symbol")]
    code.module.renew()
    function = code.module.function(case.get("entry") or code.entry)
    variables = Variables(device, code, in_variables)
    arena = room(device, in_memory)
    places = arena.places() | variables.places()
    return PreparedLaunch(function, _values(case, places), arrays, arena, variables)


def _array(argument: Mapping[str, Any], folder: Path) -> Array:
    content = np.load(folder / argument["file"], allow_pickle=False)
    return Array(argument["name"], argument["direction"], content, argument.get("offset", 0))


def _values(case: Mapping[str, Any], places: Mapping[str, int]) -> list[np.generic]:
    """The launch's arguments: addresses, and scalars in the width that the kernel takes them in."""
    widths = case.get("widths", {})
    return [value_of(argument, widths).at(places) for argument in parameters_of(case["arguments"])]


class Value(NamedTuple):
    """Argument of a kernel: a number, the address of an array, or a struct.

    ``content`` is the array's name in place of its address; ``pointers`` says for each array that a struct
    points to at which byte its address goes.
    """

    content: np.generic | str
    pointers: Mapping[str, int]

    def at(self, places: Mapping[str, int]) -> np.generic:
        """The value for arrays that lie at these addresses."""
        if isinstance(self.content, str):
            address: np.generic = ADDRESS.type(places[self.content])
            return address
        if not self.pointers:
            return self.content
        filled = bytearray(self.content.tobytes())
        for array, start in self.pointers.items():
            filled[start : start + ADDRESS.itemsize] = ADDRESS.type(places[array]).tobytes()
        value: np.generic = np.frombuffer(bytes(filled), f"V{len(filled)}")[0]
        return value


def parameters_of(arguments: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The arguments that are the kernel's parameters: arrays behind structs are not."""
    return [argument for argument in arguments if argument.get("is_parameter", True)]


def value_of(argument: Mapping[str, Any], widths: Mapping[str, str]) -> Value:
    """Value that a kernel is passed for an argument."""
    if argument["direction"] != "value":
        return Value(argument["name"], {})
    return Value(_scalar(argument, widths), argument.get("pointers", {}))


def _scalar(argument: Mapping[str, Any], widths: Mapping[str, str]) -> np.generic:
    """A scalar as wide as the kernel takes it; of a type that NumPy lacks its bytes."""
    if "bytes" in argument:
        content = bytes.fromhex(argument["bytes"])
        raw: np.generic = np.frombuffer(content, f"V{len(content)}")[0]
        return raw
    value: np.generic = np.dtype(widths.get(argument["name"], argument["dtype"])).type(argument["value"])
    return value


def _timed(device: Device, case: Mapping[str, Any], function: int, values: list[np.generic]) -> Record:
    """A launch, and how long the device takes for it."""
    start, stop = device.events()
    device.synchronize()
    device.record(start)
    record = _launched(device, case, function, values, lambda: device.record(stop))
    if record["state"] == "done":
        record["seconds"] = device.between_ms(start, stop) / 1000
    return record


def _launched(
    device: Device,
    case: Mapping[str, Any],
    function: int,
    values: list[np.generic],
    afterwards: Callable[[], None] = lambda: None,
) -> Record:
    """A launch that is refused never ran; what a kernel does shows when it is waited for."""
    try:
        device.launch(function, case["grid"], case["block"], case["shared"], values)
    except DeviceFault as refusal:
        return _ended("refused", refusal)
    try:
        afterwards()
        device.synchronize()
    except DeviceFault as fault:
        if fault.name in OF_THE_MACHINE:
            raise
        return _ended("timeout" if fault.name == ENDED_BY_DRIVER else "fault", fault)
    return {"state": "done"}


def _ended(state: str, fault: DeviceFault) -> Record:
    return {"state": state, "error": fault.name, "message": fault.message}


def _outcome(arena: Arena, variables: Variables, name: str, folder: Path) -> Record:
    after = arena.afterwards()
    if arena.is_read_back:
        variables.read(after)
    files = {array: f"out/{name}-{array}.npy" for array in after.outputs}
    if files:
        (folder / "out").mkdir(exist_ok=True)
    for array, file in files.items():
        np.save(folder / file, after.outputs[array], allow_pickle=False)
    return {"outputs": files, "changed": after.changed, "outside": as_records(after.outside)}
