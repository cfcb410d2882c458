"""The driver's version, and clocks, temperature and power by its management library."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Meter:
    """Readings of NVML for the device with this UUID: the first question takes 1-2 ms, later ones 2-10 us."""

    def __init__(self, uuid: str) -> None:
        self._library: Any = None
        try:
            self._library = importlib.import_module("pynvml")
            self._library.nvmlInit()
            self._handle = self._library.nvmlDeviceGetHandleByUUID(uuid)
        except ImportError:
            self._library = None
        except self._library.NVMLError:
            self._library = None

    def read(self) -> dict[str, float | None] | None:
        """MHz, degrees Celsius, watts, and the mask of reasons for which clocks are held down.

        None where NVML is not there; a single value that this device does not tell is None.
        """
        nvml = self._library
        if nvml is None:
            return None
        handle = self._handle
        milliwatts = self._asked(lambda: nvml.nvmlDeviceGetPowerUsage(handle))
        return {
            "sm_mhz": self._asked(lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)),
            "memory_mhz": self._asked(lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM)),
            "celsius": self._asked(lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)),
            "watts": None if milliwatts is None else milliwatts / 1000,
            "reasons": self._asked(lambda: nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)),
        }

    def _asked(self, question: Callable[[], int]) -> int | None:
        try:
            return int(question())
        except self._library.NVMLError:
            return None


def driver_version() -> str:
    """Such as ``580.82.07``; empty where the kernel's module does not say."""
    try:
        text = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    version = re.search(r"\b\d{3}\.\d+(?:\.\d+)?\b", text)
    return version[0] if version else ""
