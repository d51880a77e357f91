"""Everything that needs torch: the extra ``train`` (``pip install 'longform[train]'``)."""

from __future__ import annotations

__all__: list[str] = []
