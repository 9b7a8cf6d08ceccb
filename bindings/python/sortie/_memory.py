# SPDX-License-Identifier: Apache-2.0
"""Arrays over memory that the library owns, without a copy."""

from __future__ import annotations

import weakref
from ctypes import c_void_p
from typing import Any, Callable

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

    __slots__ = ("pointer", "keep", "__weakref__")

    def __init__(self, destroy: str, keep: object = None) -> None:
        self.pointer = c_void_p()
        self.keep = keep
        finalizer = weakref.finalize(self, _destroy, getattr(lib, destroy), self.pointer, keep)
        finalizer.atexit = False  # other code that runs at exit may still use the arrays


def _destroy(destroy: Callable[[c_void_p], None], pointer: c_void_p, _keep: object) -> None:
    if pointer:
        destroy(pointer)


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
