"""64-bit keys of ids, and a set of them that holds tens of millions in little memory."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

__all__ = ["KeySet", "Keys", "key_of", "keys_of"]

Keys = NDArray[np.uint64]


def key_of(identifier: str) -> int:
    """A 64-bit hash of an id, the same on every machine.

    Among 20 million ids the chance that any two share a key is about 1 in 90,000.

    >>> key_of("w0") == key_of("w0"), key_of("w0") == key_of("w1")
    (True, False)
    """
    return int.from_bytes(blake2b(identifier.encode(errors="surrogatepass"), digest_size=8).digest(), "little")


def keys_of(identifiers: Iterable[str]) -> Keys:
    """The keys of many ids, as an array."""
    return np.fromiter((key_of(identifier) for identifier in identifiers), dtype=np.uint64)


class KeySet:
    """A growing set of keys that finds repeats: 8 bytes a key, where a Python set of ints takes about 70.

    It is a handful of sorted arrays; arrays of like size are merged, so there are never more than about log2(n).

    >>> keys = KeySet()
    >>> keys.add(np.array([3, 1], dtype=np.uint64)), keys.add(np.array([2, 3], dtype=np.uint64))
    (None, 1)
    """

    def __init__(self, keys: Keys | None = None) -> None:
        self._runs: list[Keys] = []
        if keys is not None and len(keys):
            self._runs.append(np.sort(keys))

    def add(self, keys: Keys) -> int | None:
        """Add keys; or, if one repeats, add none and return the place of the first that does."""
        order = np.argsort(keys, kind="stable")
        run = keys[order]
        repeated = np.zeros(len(keys), dtype=bool)
        repeated[order[1:][run[1:] == run[:-1]]] = True
        for older in self._runs:
            place = np.minimum(older.searchsorted(keys), len(older) - 1)
            repeated |= older[place] == keys
        if repeated.any():
            return int(np.argmax(repeated))
        while self._runs and len(self._runs[-1]) <= 2 * len(run):
            run = np.sort(np.concatenate([self._runs.pop(), run]), kind="stable")
        if len(run):
            self._runs.append(run)
        return None
