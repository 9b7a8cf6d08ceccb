# SPDX-License-Identifier: Apache-2.0
"""Progress bars."""

from __future__ import annotations

import sys
from typing import Any, Optional, Union

from ._options import ProgressFunction


def _has_display() -> bool:
    if "ipykernel" in sys.modules:
        return True
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False


class Bars:
    """A bar of tqdm for each phase of a call."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None
        self._phase: Optional[str] = None

    def __call__(self, phase: str, done: int, total: int) -> None:
        if phase != self._phase:
            self.close()
            self._phase = phase
            self._bar = self._tqdm(desc=phase, total=total or None, leave=False, unit_scale=True)
        if total and self._bar.total != total:
            self._bar.total = total
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar = None
        self._phase = None


def reporter(progress: Union[bool, ProgressFunction, None]) -> Optional[ProgressFunction]:
    """What a call reports to; None if it would not be shown."""
    if progress is None or progress is False:
        return None
    if progress is not True:
        return progress
    if not _has_display():
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return Bars(tqdm)
