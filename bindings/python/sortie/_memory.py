# SPDX-License-Identifier: Apache-2.0
"""Arrays over memory that the library owns, without a copy."""

from __future__ import annotations

from ctypes import c_void_p
from typing import Any

import numpy as np

from ._library import lib


class Handle:
    """A result of the library, destroyed with the last object that refers to it.

    It is made before the call that fills it, so that a result is freed also if Ctrl-C ends the call
    after the library has returned it.

    Parameters
    ----------
    destroy : str
        The function of the C interface that frees the result.
    keep : object
        What must exist when the result is destroyed, such as the stream of the call.
    """

    __slots__ = ("pointer", "keep", "_destroy")

    def __init__(self, destroy: str, keep: object = None) -> None:
        self.pointer = c_void_p()
        self.keep = keep
        self._destroy = getattr(lib, destroy)

    # A finalizer of weakref takes longer to make than a short call, and has to be told not to free
    # results at exit, where other code may still use them.
    def __del__(self) -> None:
        if self.pointer:
            self._destroy(self.pointer)


class OwnedMemory:
    """One array of a result, for NumPy and for the libraries of GPU arrays.

    They keep this object as long as their array exists, and this object keeps the result.
    """

    def __init__(
        self, owner: Handle, pointer: int, size: int, dtype: np.dtype[Any], on_device: bool
    ) -> None:
        self._owner = owner
        interface: dict[str, Any] = {
            "version": 3,
            "shape": (size,),
            "typestr": dtype.str,
            "data": (pointer, False),
        }
        # Exactly one of the two attributes exists, as the protocols ask for.
        if on_device:
            # The stream of the call is the caller's current stream: nothing is to be awaited.
            self.__cuda_array_interface__ = {**interface, "stream": None}
        else:
            self.__array_interface__ = interface


def host_array(owner: Handle, pointer: int, size: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A NumPy array over host memory of a result; an ordinary one if it is empty."""
    if size == 0 or not pointer:
        return np.empty(0, dtype)
    return np.asarray(OwnedMemory(owner, pointer, size, dtype, on_device=False))
