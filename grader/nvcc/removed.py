"""What older lessons use and CUDA 13 has no more: the error of a compiler, said with what to write instead.

Sources: CUDA Toolkit release notes, 12.0 (texture references) and 13.0 (functions and members of
``cudaDeviceProp`` that had been deprecated).
"""

from __future__ import annotations

import re

_NAME = re.compile(
    r'(?:identifier|has no member) "(?P<name>\w+)"|"(?P<other>\w+)" has not been declared', re.ASCII
)

_ATTRIBUTE = "cudaDeviceGetAttribute(&value, cudaDevAttr{0}, device)"
_INSTEAD = {
    "cudaThreadSynchronize": "cudaDeviceSynchronize()",
    "cudaThreadExit": "cudaDeviceReset()",
    "cudaThreadSetLimit": "cudaDeviceSetLimit()",
    "cudaThreadGetLimit": "cudaDeviceGetLimit()",
    "cudaThreadSetCacheConfig": "cudaDeviceSetCacheConfig()",
    "cudaThreadGetCacheConfig": "cudaDeviceGetCacheConfig()",
    "cudaBindTexture": "cudaCreateTextureObject()",
    "cudaBindTexture2D": "cudaCreateTextureObject()",
    "cudaBindTextureToArray": "cudaCreateTextureObject()",
    "cudaUnbindTexture": "cudaDestroyTextureObject()",
    "clockRate": _ATTRIBUTE.format("ClockRate"),
    "memoryClockRate": _ATTRIBUTE.format("MemoryClockRate"),
    "deviceOverlap": _ATTRIBUTE.format("GpuOverlap"),
    "kernelExecTimeoutEnabled": _ATTRIBUTE.format("KernelExecTimeout"),
    "computeMode": _ATTRIBUTE.format("ComputeMode"),
    "singleToDoublePrecisionPerfRatio": _ATTRIBUTE.format("SingleToDoublePrecisionPerfRatio"),
}
"""A name that is gone, and what to write instead."""


def instead(message: str) -> str:
    """A clause for a compiler's error about a name that CUDA 13 has no more; empty for any other error."""
    found = _NAME.search(message)
    written = _INSTEAD.get(found["name"] or found["other"]) if found else None
    return f"; removed from CUDA by version 13: use `{written}`" if written else ""
