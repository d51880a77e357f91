"""Where every passage of a part stands in the order of ids: ties are broken by a number instead of by two strings."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from longform.files import atomic_write
from longform.retrieve.store import ID_ENDS, IDS, map_file

__all__ = ["ORDER", "write_order"]

ORDER = "order.u32"
# The ids are sorted in memory, each as wide as the longest: beyond this a part does without, and compares the ids.
_MOST_BYTES = 1 << 28


def write_order(folder: Path) -> None:
    """Write the order of a finished part's ids, unless they are too many or too long to be sorted in memory.

    UTF-8 sorts byte by byte as its characters do, so the order is that of the ids as strings.
    """
    ends = map_file(folder / ID_ENDS, np.dtype("<u8")).astype(np.int64)
    if not len(ends):
        return
    lengths = np.diff(ends, prepend=0)
    width = int(lengths.max())
    if width * len(ends) > _MOST_BYTES:
        return
    ids = map_file(folder / IDS, np.uint8)
    table = np.zeros((len(ends), width), dtype=np.uint8)
    # Row by row: the places of a row's bytes are those below its length.
    table[np.arange(width) < lengths[:, None]] = ids[: ends[-1]]
    order = np.empty(len(ends), dtype="<u4")
    order[np.argsort(table.view(f"S{width}")[:, 0], kind="stable")] = np.arange(len(ends), dtype=np.uint32)
    with atomic_write(folder / ORDER) as file:
        file.write(order.tobytes())
