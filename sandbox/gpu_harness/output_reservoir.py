"""A few of the distinct outputs of a kernel, each of them kept with the same probability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

Outputs = dict[str, "NDArray[Any]"]


class OutputReservoir:
    """Outputs by input set; of ``capacity`` at most of each, by digest.

    A reservoir (J. S. Vitter, "Random sampling with a reservoir", ACM TOMS 11, 1985, algorithm R): the n-th
    distinct output takes the place of another one with probability ``capacity`` / n.
    """

    def __init__(self, capacity: int, rng: random.Random) -> None:
        self._capacity, self._rng = capacity, rng
        self._digests: dict[int, set[str]] = {}
        self._held: dict[int, list[tuple[str, Outputs]]] = {}

    def offer(self, which: int, digest: str, fetch: Callable[[], Outputs]) -> None:
        """Keep what ``fetch`` gives, maybe, if no launch on this input set has left it before."""
        digests, held = self._digests.setdefault(which, set()), self._held.setdefault(which, [])
        if digest in digests:
            return
        digests.add(digest)
        if len(held) < self._capacity:
            held.append((digest, fetch()))
            return
        index = self._rng.randrange(len(digests))
        if index < self._capacity:
            held[index] = (digest, fetch())

    def write(self, folder: Path) -> list[dict[str, Any]]:
        """Write all to ``timed/`` in ``folder``, and list them."""
        (folder / "timed").mkdir(exist_ok=True)
        listed = []
        for which, held in sorted(self._held.items()):
            for index, (digest, outputs) in enumerate(held):
                for name, array in outputs.items():
                    file = f"timed/{which}-{index}-{name}.npy"
                    np.save(folder / file, array, allow_pickle=False)
                    listed.append({"set": which, "digest": digest, "array": name, "file": file})
        return listed
