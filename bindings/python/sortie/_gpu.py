# SPDX-License-Identifier: Apache-2.0
"""Arrays of CuPy, PyTorch and JAX, on a GPU or not.

CuPy and PyTorch order their work on the current stream of the array's device, and calls of Sortie are
ordered on the same stream. JAX has no such stream: its arrays are awaited before a call, and results
are complete after it.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from abc import abstractmethod
from typing import Any, Optional, Union

import numpy as np

from . import _arrays, _driver
from ._arrays import Array, Dtype, HostArray, NumpyArray, device_memory
from ._context import Place, device_place, require_device


def import_cupy(argument: str) -> Any:
    """CuPy, for arrays on a GPU that neither PyTorch nor JAX owns."""
    try:
        import cupy
    except ImportError:
        raise TypeError(
            f"{argument} is an array on a GPU, and CuPy, which the result would be an array of, is"
            " not installed; expected an array of CuPy, PyTorch or JAX"
        ) from None
    return cupy


class DeviceArray(Array):
    """What arrays on a GPU have in common.

    To ask a library for its current stream takes a good part of a short call, so one array of a call
    asks for it, and the others of the same device are described `like` that one.
    """

    native: Any
    library: str
    stream_object: Any
    """What must exist as long as results that are made on the stream."""

    @abstractmethod
    def __init__(
        self,
        argument: str,
        native: Any,
        original: Any = None,
        like: Optional[DeviceArray] = None,
    ) -> None:
        ...

    def _same_kind(self, native: Any) -> DeviceArray:
        return type(self)(self.argument, native, like=self)

    @abstractmethod
    def _current_stream(self) -> tuple[Any, Place]:
        """The current stream of the array's device, and the place that it stands for."""

    def current_place(self) -> Place:
        return self._current_stream()[1]

    def result(self) -> Any:
        return self.native if self.original is None else self.original

    def companion(self, argument: str, operand: object) -> Array:
        other = _arrays.array(argument, operand)
        if isinstance(other, HostArray):
            return type(self)(argument, self._upload(other.in_native_order()), like=self)
        if type(other) is not type(self) or other.place.device != self.place.device:
            raise TypeError(
                f"{argument} is an array of {getattr(other, 'library', 'another library')} on GPU"
                f" {other.place.device}, and {self.argument} one of {self.library} on GPU"
                f" {self.place.device}; expected both in the same place"
            )
        return other

    def _upload(self, data: NumpyArray) -> Any:
        """A native array on the same device with the elements of a NumPy array."""
        raise NotImplementedError


# --- CuPy -----------------------------------------------------------------------------------------


class _Cupy:
    """The functions of CuPy that short calls use. To look each of them up takes as long as one."""

    def __init__(self) -> None:
        import cupy

        self.ndarray = cupy.ndarray
        self.empty = cupy.empty
        self.asarray = cupy.asarray
        self.device = cupy.cuda.Device
        self.device_id = cupy.cuda.runtime.getDevice
        self.current_stream = cupy.cuda.get_current_stream
        self.memory = cupy.cuda.UnownedMemory
        self.memory_pointer = cupy.cuda.MemoryPointer


_cupy = functools.lru_cache(maxsize=1)(_Cupy)


class CupyArray(DeviceArray):
    """An array of CuPy."""

    library = "CuPy"

    def __init__(
        self,
        argument: str,
        native: Any,
        original: Any = None,
        like: Optional[DeviceArray] = None,
    ) -> None:
        self.argument = argument
        self.native = native
        self.original = original
        self.shape = native.shape
        dtype = native.dtype
        self.dtype = dtype
        self.itemsize = dtype.itemsize
        self.is_contiguous = native.flags.c_contiguous and dtype.isnative
        data = native.data
        self.pointer = data.ptr
        self._device = data.device_id
        if like is not None and like.place.device == self._device:
            self.stream_object = like.stream_object
            self.place = like.place
        else:
            self.stream_object, self.place = self._current_stream()

    def _current_stream(self) -> tuple[Any, Place]:
        stream = _cupy().current_stream(self._device)
        return stream, device_place(self._device, stream.ptr)

    def _current(self) -> Any:
        """A context in which the device is current. To enter that of a device is not free."""
        if _cupy().device_id() == self._device:
            return contextlib.nullcontext()
        return _cupy().device(self._device)

    def companion(self, argument: str, operand: object) -> Array:
        if type(operand) is type(self.native):
            other = CupyArray(argument, operand, operand, like=self)
            if other.place is self.place:
                return other
        return super().companion(argument, operand)

    def copy(self) -> DeviceArray:
        with self._current():
            return self._same_kind(self.native.copy(order="C"))

    def empty(self, shape: Union[int, tuple[int, ...]], dtype: Any) -> DeviceArray:
        cupy = _cupy()
        if cupy.device_id() == self._device:
            return CupyArray(self.argument, cupy.empty(shape, dtype), like=self)
        with cupy.device(self._device):
            return CupyArray(self.argument, cupy.empty(shape, dtype), like=self)

    def astype(self, dtype: Dtype) -> Array:
        if self.dtype == dtype:
            return self.contiguous()
        with self._current():
            return self._same_kind(self.native.astype(dtype, order="C"))

    def _upload(self, data: NumpyArray) -> Any:
        with self._current():
            return _cupy().asarray(data)

    def adopt(self, owner: Any, pointer: int, size: int, dtype: Dtype) -> Any:
        if size == 0:
            return self.empty(0, dtype).result()
        # As cupy.asarray() of an object with the __cuda_array_interface__, without the detour.
        cupy = _cupy()
        memory = cupy.memory(pointer, size * dtype.itemsize, owner, self._device)
        return cupy.ndarray((size,), dtype, cupy.memory_pointer(memory, 0))


def cupy_array(argument: str, operand: Any) -> Array:
    """An array of CuPy, or another object with the __cuda_array_interface__.

    CuPy lets its current stream wait for the stream that the object names.
    """
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(operand, cupy.ndarray):
        require_device(argument, operand.device.id)
        _arrays.describers[type(operand)] = _usual_cupy_array
        return _usual_cupy_array(argument, operand)
    require_device(argument, 0)
    return CupyArray(argument, import_cupy(argument).asarray(operand))


def _usual_cupy_array(argument: str, operand: Any) -> Array:
    """An array of CuPy, when the library is known to find GPUs."""
    return CupyArray(argument, operand, operand)


# --- PyTorch --------------------------------------------------------------------------------------


# By dtype, since numpy.dtype.name takes as long as a short call.
@functools.lru_cache(maxsize=None)
def _torch_dtype(dtype: Any) -> Any:
    import torch

    if isinstance(dtype, torch.dtype):
        return dtype
    return getattr(torch, "bool" if dtype == np.bool_ else dtype.name)


@functools.lru_cache(maxsize=None)
def _numpy_dtype(torch_dtype: Any) -> Any:
    """The dtype of NumPy, or that of PyTorch where NumPy has none, such as bfloat16."""
    try:
        dtype = np.dtype(str(torch_dtype).partition(".")[2])
    except TypeError:
        return torch_dtype
    # JAX makes some names known to NumPy, without conversions of PyTorch to them.
    return torch_dtype if dtype.kind == "V" else dtype


class TorchArray(DeviceArray):
    """A tensor of PyTorch on a GPU."""

    library = "PyTorch"
    has_unsigned_types = False

    def __init__(
        self,
        argument: str,
        native: Any,
        original: Any = None,
        like: Optional[DeviceArray] = None,
    ) -> None:
        self._torch = sys.modules["torch"]
        self.argument = argument
        self.native = native
        self.original = original
        self.shape = tuple(native.shape)
        self.dtype = _numpy_dtype(native.dtype)
        self.itemsize = native.element_size()
        self.is_contiguous = native.is_contiguous()
        self.pointer = native.data_ptr()
        if like is not None and like.place.device == native.device.index:
            self.stream_object = like.stream_object
            self.place = like.place
        else:
            self.stream_object, self.place = self._current_stream()

    def _current_stream(self) -> tuple[Any, Place]:
        device = self.native.device
        stream = self._torch.cuda.current_stream(device)
        return stream, device_place(device.index, stream.cuda_stream)

    def companion(self, argument: str, operand: object) -> Array:
        if type(operand) is type(self.native):
            other = torch_array(argument, operand, like=self)
            if other.place is self.place:
                return other
        return super().companion(argument, operand)

    def copy(self) -> DeviceArray:
        return self._same_kind(self.native.clone(memory_format=self._torch.contiguous_format))

    def empty(self, shape: Union[int, tuple[int, ...]], dtype: Any) -> DeviceArray:
        return self._same_kind(
            self._torch.empty(shape, dtype=_torch_dtype(dtype), device=self.native.device)
        )

    def astype(self, dtype: Dtype) -> Array:
        if self.dtype == dtype:
            return self.contiguous()
        return self._same_kind(self.native.contiguous().to(_torch_dtype(dtype)))

    def _upload(self, data: NumpyArray) -> Any:
        if not data.flags.writeable:
            data = data.copy()  # PyTorch warns of read-only memory
        return self._torch.from_numpy(data).to(self.native.device)

    def adopt(self, owner: Any, pointer: int, size: int, dtype: Dtype) -> Any:
        if size == 0:
            return self.empty(0, dtype).result()
        memory = device_memory(owner, pointer, size, dtype)
        return self._torch.as_tensor(memory, device=self.native.device)


def torch_array(argument: str, operand: Any, like: Optional[DeviceArray] = None) -> Array:
    """A tensor: a TorchArray on a GPU, a HostArray over the same memory on the CPU."""
    torch = sys.modules["torch"]
    if operand.layout != torch.strided:
        raise TypeError(f"{argument} is a tensor of layout {operand.layout}; expected a dense one")
    tensor = operand
    if tensor.requires_grad:
        tensor = tensor.detach()
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    original = operand if tensor is operand or tensor.data_ptr() == operand.data_ptr() else None
    device = tensor.device
    if device.type == "cpu":
        if not isinstance(_numpy_dtype(tensor.dtype), np.dtype):
            raise TypeError(
                f"{argument} has dtype {tensor.dtype}, which NumPy does not have; expected another"
            )
        on_host = HostArray(argument, tensor.numpy(), wrap=torch.from_numpy, original=original)
        on_host.has_unsigned_types = False
        return on_host
    if device.type == "cuda":
        require_device(argument, device.index)
        return TorchArray(argument, tensor, original, like)
    raise TypeError(f"{argument} is on {device}; expected a tensor on the CPU or on CUDA")


# --- JAX ------------------------------------------------------------------------------------------


def _jax_index_dtype(jax: Any) -> Dtype:
    return np.dtype(np.int64 if jax.config.jax_enable_x64 else np.int32)


class JaxArray(DeviceArray):
    """An array of JAX on a GPU.

    Arrays of JAX are immutable. The library writes only to arrays that were made for it and that no
    one else has seen.
    """

    library = "JAX"

    def __init__(
        self,
        argument: str,
        native: Any,
        original: Any = None,
        like: Optional[DeviceArray] = None,
    ) -> None:
        import jax

        self.argument = argument
        self.native = native
        self.original = original
        self.shape = tuple(native.shape)
        self.is_contiguous = True
        self._jax = jax
        native.block_until_ready()
        self.dtype = np.dtype(native.dtype)
        self.itemsize = self.dtype.itemsize
        self.pointer = native.unsafe_buffer_pointer()
        (self._device,) = native.devices()
        self.index_dtype = _jax_index_dtype(jax)
        self.stream_object, self.place = self._current_stream()

    def _current_stream(self) -> tuple[Any, Place]:
        ordinal = getattr(self._device, "local_hardware_id", None)
        return None, device_place(self._device.id if ordinal is None else ordinal, 0)

    def copy(self) -> DeviceArray:
        with self._jax.default_device(self._device):
            return self._same_kind(self._jax.numpy.array(self.native, copy=True))

    def empty(self, shape: Union[int, tuple[int, ...]], dtype: Any) -> DeviceArray:
        with self._exact_types(dtype), self._jax.default_device(self._device):
            return self._same_kind(self._jax.numpy.empty(shape, dtype))

    def _exact_types(self, dtype: Dtype) -> Any:
        """JAX makes 32-bit arrays where 64 bits are asked for, unless it is told not to."""
        if dtype.itemsize < 8 or self._jax.config.jax_enable_x64:
            return contextlib.nullcontext()
        raise TypeError(
            f"the result has dtype {dtype}, which JAX has only with jax_enable_x64; set it, or ask"
            " for a dtype of 32 bits"
        )

    def astype(self, dtype: Dtype) -> Array:
        with self._exact_types(dtype):
            return self._same_kind(self.native.astype(dtype))

    def _upload(self, data: NumpyArray) -> Any:
        with self._exact_types(data.dtype):
            return self._jax.device_put(data, self._device)

    def require_output(self) -> None:
        raise TypeError(f"{self.argument} is an array of JAX, which is immutable")

    def adopt(self, owner: Any, pointer: int, size: int, dtype: Dtype) -> Any:
        target = self.empty(size, dtype)
        if size > 0:
            _driver.copy(self.place.device, target.pointer, pointer, size * dtype.itemsize)
        return target.result()

    def result(self) -> Any:
        _driver.synchronize(self.place.device)
        return self.native


def jax_array(argument: str, operand: Any) -> Array:
    """An array of JAX: a JaxArray on a GPU, a HostArray over the same memory on the CPU."""
    import jax

    devices = operand.devices()  # a TypeError of JAX inside of a jitted function
    if len(devices) != 1:
        raise TypeError(f"{argument} is sharded over {len(devices)} devices; expected one")
    (device,) = devices
    if device.platform == "cpu":
        return HostArray(
            argument,
            np.asarray(operand),
            wrap=lambda data: jax.device_put(data, device),
            index_dtype=_jax_index_dtype(jax),
        )
    if device.platform in ("gpu", "cuda"):
        require_device(argument, device.id)
        return JaxArray(argument, operand)
    raise TypeError(f"{argument} is on {device}; expected the CPU or a GPU")
