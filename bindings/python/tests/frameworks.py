# SPDX-License-Identifier: Apache-2.0
"""The libraries of arrays that the tests use, where they are installed."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import sortie


class Torch:
    """Tensors on one device."""

    dtypes = "bool uint8 int8 int16 float16 int32 float32 int64 float64".split()
    index_dtype = np.int64
    position_dtype = np.int64

    def __init__(self, device: str) -> None:
        self.module = importlib.import_module("torch")
        self.device = device
        if device == "cuda" and not self.module.cuda.is_available():
            pytest.skip("PyTorch finds no GPU")
        self.on_gpu = device == "cuda"

    def make(self, data: np.ndarray) -> Any:
        return self.module.from_numpy(np.ascontiguousarray(data).copy()).to(self.device)

    def read(self, tensor: Any) -> np.ndarray:
        assert isinstance(tensor, self.module.Tensor)
        assert tensor.device.type == self.device
        return tensor.cpu().numpy()

    def every_second(self, tensor: Any) -> Any:
        return tensor[::2]


class Cupy:
    """Arrays of CuPy."""

    dtypes = (
        "bool uint8 int8 uint16 int16 float16 uint32 int32 float32 uint64 int64 float64".split()
    )
    index_dtype = np.int64
    position_dtype = np.uint32
    on_gpu = True

    def __init__(self) -> None:
        self.module = importlib.import_module("cupy")
        try:
            count = self.module.cuda.runtime.getDeviceCount()
        except self.module.cuda.runtime.CUDARuntimeError as error:
            pytest.skip(f"CuPy finds no GPU: {error}")
        assert count > 0

    def make(self, data: np.ndarray) -> Any:
        return self.module.asarray(data)

    def read(self, array: Any) -> np.ndarray:
        assert isinstance(array, self.module.ndarray)
        return array.get()

    def every_second(self, array: Any) -> Any:
        return array[::2]


class Jax:
    """Arrays of JAX on one device, without 64-bit types."""

    dtypes = "bool uint8 int8 uint16 int16 float16 uint32 int32 float32".split()
    index_dtype = np.int32
    position_dtype = np.uint32

    def __init__(self, platform: str) -> None:
        self.module = importlib.import_module("jax")
        try:
            self.device = self.module.devices(platform)[0]
        except RuntimeError as error:
            pytest.skip(f"JAX has no {platform}: {error}")
        self.on_gpu = platform == "gpu"

    def make(self, data: np.ndarray) -> Any:
        return self.module.device_put(data, self.device)

    def read(self, array: Any) -> np.ndarray:
        assert isinstance(array, self.module.Array)
        assert array.devices() == {self.device}
        return np.asarray(array)

    def every_second(self, array: Any) -> Any:
        return array[::2]


KINDS = {
    "torch-cpu": lambda: Torch("cpu"),
    "torch-cuda": lambda: Torch("cuda"),
    "cupy": Cupy,
    "jax-cpu": lambda: Jax("cpu"),
    "jax-gpu": lambda: Jax("gpu"),
}


def library(kind: str) -> Any:
    pytest.importorskip(kind.partition("-")[0], reason=f"{kind.partition('-')[0]} is not installed")
    made = KINDS[kind]()
    if made.on_gpu and not sortie.info().devices:
        pytest.skip(f"the library finds no GPU: {sortie.info().why_no_device}")
    return made
