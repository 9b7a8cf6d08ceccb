# SPDX-License-Identifier: Apache-2.0
"""Exceptions for the statuses of the C interface."""

from __future__ import annotations

from . import _library


class Error(RuntimeError):
    """A failure that no built-in exception describes: a result failed its verification, or the
    library has a fault."""


class DeviceError(Error):
    """No usable GPU, a library without CUDA, or a failed call of CUDA or cuSPARSE."""


class CancelledError(Error):
    """The library stopped although neither Ctrl-C nor the progress function asked for it."""


_TYPES: dict[int, type[Exception]] = {
    _library.INPUT: ValueError,
    _library.USAGE: ValueError,
    _library.OUTPUT: OSError,
    _library.OUT_OF_MEMORY: MemoryError,
    _library.UNAVAILABLE: DeviceError,
    _library.DEVICE: DeviceError,
    _library.CANCELLED: CancelledError,
}


def exception(status: int, message: str) -> Exception:
    """The exception for a status other than OK."""
    return _TYPES.get(status, Error)(message)
