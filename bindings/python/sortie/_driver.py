# SPDX-License-Identifier: Apache-2.0
"""Calls of the CUDA driver, which arrays of JAX need: JAX has no current stream to order work on."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint64, c_void_p
from typing import Optional

from ._errors import DeviceError

_driver: Optional[ctypes.CDLL] = None


def _load() -> ctypes.CDLL:
    global _driver
    if _driver is None:
        try:
            driver = ctypes.CDLL("libcuda.so.1")
        except OSError as failure:
            raise DeviceError(f"the driver of CUDA cannot be loaded: {failure}") from None
        driver.cuGetErrorString.argtypes = [c_int, POINTER(c_char_p)]
        driver.cuDevicePrimaryCtxRetain.argtypes = [POINTER(c_void_p), c_int]
        driver.cuDevicePrimaryCtxRelease_v2.argtypes = [c_int]
        driver.cuCtxPushCurrent_v2.argtypes = [c_void_p]
        driver.cuCtxPopCurrent_v2.argtypes = [POINTER(c_void_p)]
        driver.cuStreamSynchronize.argtypes = [c_void_p]
        driver.cuMemcpyDtoDAsync_v2.argtypes = [c_uint64, c_uint64, c_size_t, c_void_p]
        _driver = driver
    return _driver


class _PrimaryContext:
    """Makes the context that the CUDA runtime uses on a device the current one of the thread."""

    def __init__(self, device: int) -> None:
        self._driver = _load()
        self._device = device

    def check(self, result: int, function: str) -> None:
        if result != 0:
            message = c_char_p()
            self._driver.cuGetErrorString(result, byref(message))
            text = (message.value or b"unknown error").decode(errors="replace")
            raise DeviceError(f"{function} on GPU {self._device}: {text}")

    def __enter__(self) -> _PrimaryContext:
        self.check(self._driver.cuInit(0), "cuInit")
        ordinal = c_int()
        self.check(self._driver.cuDeviceGet(byref(ordinal), self._device), "cuDeviceGet")
        self._ordinal = ordinal.value
        context = c_void_p()
        self.check(
            self._driver.cuDevicePrimaryCtxRetain(byref(context), self._ordinal),
            "cuDevicePrimaryCtxRetain",
        )
        try:
            self.check(self._driver.cuCtxPushCurrent_v2(context), "cuCtxPushCurrent")
        except DeviceError:
            self._driver.cuDevicePrimaryCtxRelease_v2(self._ordinal)
            raise
        return self

    def __exit__(self, *_exception: object) -> None:
        previous = c_void_p()
        self._driver.cuCtxPopCurrent_v2(byref(previous))
        self._driver.cuDevicePrimaryCtxRelease_v2(self._ordinal)


def synchronize(device: int, stream: int = 0) -> None:
    """Waits for all work on a stream."""
    with _PrimaryContext(device) as context:
        context.check(_load().cuStreamSynchronize(stream or None), "cuStreamSynchronize")


def copy(device: int, target: int, source: int, size: int, stream: int = 0) -> None:
    """Copies bytes between two places in the memory of a device, in the order of a stream."""
    with _PrimaryContext(device) as context:
        context.check(
            _load().cuMemcpyDtoDAsync_v2(target, source, size, stream or None), "cuMemcpyDtoDAsync"
        )
