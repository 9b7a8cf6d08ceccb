# SPDX-License-Identifier: Apache-2.0
"""Operands and results: arrays of NumPy, CuPy, PyTorch and JAX under one interface.

None of the libraries but NumPy is imported here: an object can only be an array of a library that the
caller has imported.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import Any, Callable, Optional, Union

import numpy as np

from . import _library
from ._context import HOST, Place, require_device
from ._memory import OwnedMemory, host_array

NumpyArray = np.ndarray[Any, np.dtype[Any]]
Dtype = np.dtype[Any]

KEY_TYPES: dict[Dtype, int] = {
    np.dtype(np.bool_): _library.U8,
    np.dtype(np.uint8): _library.U8,
    np.dtype(np.int8): _library.I8,
    np.dtype(np.uint16): _library.U16,
    np.dtype(np.int16): _library.I16,
    np.dtype(np.uint32): _library.U32,
    np.dtype(np.int32): _library.I32,
    np.dtype(np.float32): _library.F32,
    np.dtype(np.uint64): _library.U64,
    np.dtype(np.int64): _library.I64,
    np.dtype(np.float64): _library.F64,
    np.dtype(np.float16): _library.F16,
}
"""What the sorts take."""

POSITION_TYPES: dict[Dtype, int] = {
    np.dtype(name): KEY_TYPES[np.dtype(name)] for name in ("int32", "uint32", "int64", "uint64")
}
"""What offsets and positions may be."""

ARRAY_DTYPES: dict[int, Dtype] = {
    code: dtype for dtype, code in KEY_TYPES.items() if dtype != np.bool_
}
"""Of the arrays that the library returns."""


def type_code(argument: str, dtype: object, types: dict[Dtype, int]) -> int:
    """The sortie_type for a dtype; a TypeError that lists what is expected if there is none."""
    # A type in the byte order of the machine is in the list itself.
    code: Optional[int] = types.get(dtype)  # type: ignore[call-overload]
    if code is None and isinstance(dtype, np.dtype):
        code = types.get(dtype.newbyteorder("="))
    # NumPy has no bfloat16 of its own: that of ml_dtypes, which JAX uses, or of PyTorch.
    if code is None and types is KEY_TYPES and str(dtype) in ("bfloat16", "torch.bfloat16"):
        code = _library.BF16
    if code is None:
        expected = ", ".join(sorted((str(known) for known in types), key=_natural))
        raise TypeError(f"{argument} has dtype {dtype}; expected one of {expected}")
    return code


def _natural(name: str) -> tuple[str, int]:
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or 0)


class Array(ABC):
    """An array of the caller, or of a result, in one of the libraries.

    Attributes
    ----------
    argument : str
        The name of the argument, for messages.
    dtype : numpy.dtype or object
        An object that is not a numpy.dtype is a type that NumPy does not have.
    original : object
        The object of the caller, if this array is over its memory; else None.
    is_contiguous : bool
        Whether the elements are in one block and in the byte order of the machine.
    index_dtype : numpy.dtype
        What the library of the array uses for positions.
    has_unsigned_types : bool
        Whether the library has uint32 and uint64 with all that arrays need; PyTorch does not.
    """

    argument: str
    dtype: Any
    itemsize: int
    shape: tuple[int, ...]
    place: Place
    pointer: int
    original: Any = None
    is_contiguous: bool
    index_dtype: Dtype = np.dtype(np.int64)
    has_unsigned_types = True

    def current_place(self) -> Place:
        """The place of a call on this array now: an array on a GPU may be kept from a call on another
        stream."""
        return self.place

    @property
    def size(self) -> int:
        """The length of the first axis."""
        return self.shape[0]

    @property
    def row_bytes(self) -> int:
        """Bytes of an element of the first axis."""
        count = 1
        for extent in self.shape[1:]:
            count *= extent
        return count * self.itemsize

    @property
    def bytes(self) -> int:
        return self.size * self.row_bytes

    def type_code(self, types: dict[Dtype, int]) -> int:
        return type_code(self.argument, self.dtype, types)

    def require_1d(self) -> None:
        if len(self.shape) != 1:
            raise ValueError(
                f"{self.argument} has shape {self.shape}; expected an array of one dimension"
            )

    def contiguous(self) -> Array:
        """The array, or a copy of it that is contiguous."""
        return self if self.is_contiguous else self.copy()

    def require_output(self) -> None:
        """Refuses an array that the library cannot write to."""
        if self.original is None:
            raise TypeError(
                f"{self.argument} is not an array that can be written to in the place of the operands"
            )
        if not self.is_contiguous:
            raise ValueError(
                f"{self.argument} is not contiguous, or not in the byte order of the machine;"
                " expected a contiguous array"
            )

    @abstractmethod
    def copy(self) -> Array:
        """A new contiguous array with the same elements."""

    @abstractmethod
    def empty(self, shape: Union[int, tuple[int, ...]], dtype: Any) -> Array:
        """A new array of the same library and in the same place."""

    @abstractmethod
    def astype(self, dtype: Dtype) -> Array:
        """A contiguous array with the elements converted; itself if it has that dtype."""

    @abstractmethod
    def companion(self, argument: str, operand: object) -> Array:
        """Another operand of the same call, brought to the place of this one."""

    @abstractmethod
    def adopt(self, owner: Any, pointer: int, size: int, dtype: Dtype) -> Any:
        """What the caller gets for an array that the library owns."""

    @abstractmethod
    def result(self) -> Any:
        """What the caller gets for this array."""


class HostArray(Array):
    """An array in host memory, as a NumPy array.

    `wrap` makes the object that the caller gets from a NumPy array, over the same memory where the
    library of the caller allows that.
    """

    place = HOST

    def __init__(
        self,
        argument: str,
        data: NumpyArray,
        wrap: Optional[Callable[[NumpyArray], Any]] = None,
        original: Any = None,
        index_dtype: Dtype = Array.index_dtype,
    ) -> None:
        self.argument = argument
        self.data = data
        self.original = original
        self.index_dtype = index_dtype
        flags = data.flags
        self.is_contiguous = flags.c_contiguous and flags.aligned and data.dtype.isnative
        self.dtype = data.dtype
        self.itemsize = data.dtype.itemsize
        self.shape = data.shape
        self.pointer = data.ctypes.data
        self._wrap = wrap

    def _same_kind(self, data: NumpyArray) -> HostArray:
        return HostArray(self.argument, data, self._wrap, index_dtype=self.index_dtype)

    def copy(self) -> HostArray:
        native_order = self.dtype.newbyteorder("=")
        return self._same_kind(np.array(self.data, dtype=native_order, order="C", copy=True))

    def in_native_order(self) -> NumpyArray:
        """The elements, contiguous and in the byte order of the machine."""
        return np.ascontiguousarray(self.data, self.dtype.newbyteorder("="))

    def astype(self, dtype: Dtype) -> Array:
        if self.dtype == dtype:
            return self.contiguous()
        return self._same_kind(self.data.astype(dtype))

    def empty(self, shape: Union[int, tuple[int, ...]], dtype: Any) -> HostArray:
        return self._same_kind(np.empty(shape, dtype))

    def companion(self, argument: str, operand: object) -> Array:
        other = array(argument, operand)
        if other.place.on_device:
            raise TypeError(
                f"{argument} is on GPU {other.place.device} and {self.argument} in host memory;"
                " expected both in the same place"
            )
        return other

    def require_output(self) -> None:
        super().require_output()
        if not self.data.flags.writeable:
            raise ValueError(f"{self.argument} is read-only; expected an array to write to")

    def adopt(self, owner: Any, pointer: int, size: int, dtype: Dtype) -> Any:
        data = host_array(owner, pointer, size, dtype)
        return data if self._wrap is None else self._wrap(data)

    def result(self) -> Any:
        if self.original is not None:
            return self.original
        return self.data if self._wrap is None else self._wrap(self.data)


def device_memory(owner: Any, pointer: int, size: int, dtype: Dtype) -> OwnedMemory:
    """Device memory of a result, for the __cuda_array_interface__."""
    return OwnedMemory(owner, pointer, size, dtype, on_device=True)


describers: dict[type, Callable[[str, Any], Array]] = {}
"""What describes arrays of types that were seen before, without the questions of array()."""


def array(argument: str, operand: object) -> Array:
    """Describes an operand: an array of any of the libraries, or what NumPy makes an array of.

    Raises
    ------
    TypeError
        There is no way to its elements.
    DeviceError
        It is on a GPU that the library cannot use.
    """
    # The most usual ones first: some of the questions below take longer than a short call.
    if type(operand) is np.ndarray:
        return HostArray(argument, operand, original=operand)
    describe = describers.get(type(operand))
    if describe is not None:
        return describe(argument, operand)
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(operand, cupy.ndarray):
        return _gpu.cupy_array(argument, operand)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(operand, torch.Tensor):
        describers[type(operand)] = _gpu.torch_array
        return _gpu.torch_array(argument, operand)
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(operand, jax.Array):
        return _gpu.jax_array(argument, operand)
    if hasattr(operand, "__cuda_array_interface__"):
        return _gpu.cupy_array(argument, operand)
    if isinstance(operand, np.ma.MaskedArray):
        raise TypeError(f"{argument} is a masked array; expected an array without a mask")
    if isinstance(operand, np.ndarray):
        return HostArray(argument, np.asarray(operand), original=operand)
    has_interface = hasattr(operand, "__array__") or hasattr(operand, "__array_interface__")
    if hasattr(operand, "__dlpack_device__") and not has_interface:
        return _dlpack_array(argument, operand)
    data = np.asarray(operand)
    if data.dtype == object:
        raise TypeError(
            f"{argument} is {_described(operand)}, of which NumPy makes an array of objects;"
            " expected an array of numbers"
        )
    return HostArray(argument, data)


def _described(operand: object) -> str:
    name = type(operand).__name__
    return f"a {name}" if name[0].lower() not in "aeiou" else f"an {name}"


def _dlpack_array(argument: str, operand: Any) -> Array:
    """An object that has nothing but DLPack."""
    device_type, device = operand.__dlpack_device__()
    if device_type == 1:  # kDLCPU
        return HostArray(argument, np.from_dlpack(operand))
    if device_type in (2, 13):  # kDLCUDA, kDLCUDAManaged
        require_device(argument, device)
        cupy = _gpu.import_cupy(argument)
        return _gpu.CupyArray(argument, cupy.from_dlpack(operand))
    raise TypeError(
        f"{argument} is on a device of DLPack type {device_type}; expected host memory or CUDA"
    )


from . import _gpu  # noqa: E402  at the end, since it imports this module
