# SPDX-License-Identifier: Apache-2.0
"""Sorts of one array and of its segments, and the k greatest or least keys of these."""

from __future__ import annotations

import operator
from ctypes import byref
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import _library
from ._arrays import KEY_TYPES, POSITION_TYPES, Array, Dtype, array, type_code
from ._context import call
from ._options import Options, Settings, settings_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


def sort(
    keys: Any,
    *,
    values: Any = None,
    descending: bool = False,
    stable: bool = False,
    out: Any = None,
    **options: Unpack[Options],
) -> Any:
    """Sorts one array.

    Parameters
    ----------
    keys : array_like
        One dimension; bool, integers of 8 to 64 bits, float16, bfloat16, float32 or float64. An array of NumPy, CuPy,
        PyTorch or JAX, or what NumPy makes an array of.
    values : array_like, optional
        Moved with the keys: an array whose first axis has the length of `keys`.
    descending : bool
        The exact reverse of the ascending order of keys.
    stable : bool
        Equal keys keep the order of their values. On a GPU, every sort does so.
    out : array or pair of arrays, optional
        Where the result goes: an array like `keys`, which may be `keys` itself, and with `values` a
        pair of such arrays. If the call fails, its elements are in no particular order.
    **options
        See :class:`sortie.Options`.

    Returns
    -------
    array, or a pair of arrays with `values`
        Of the library of `keys`, and in the same place.

    Notes
    -----
    Floating-point keys are ordered by IEEE 754 totalOrder: -0.0 comes before 0.0, NaN comes last, and
    NaN whose sign bit is set comes first. (``numpy.sort`` puts every NaN last. On x86, 0.0 / 0.0 is a
    NaN whose sign bit is set.)

    The input is copied, since the sort is in place; ``out=keys`` avoids the copy.

    Examples
    --------
    >>> import numpy as np
    >>> import sortie
    >>> sortie.sort(np.array([3, 1, 2], dtype=np.uint16), descending=True)
    array([3, 2, 1], dtype=uint16)
    >>> keys, values = sortie.sort([3, 1, 2], values=np.array(["c", "a", "b"]))
    >>> values
    array(['a', 'b', 'c'], dtype='<U1')
    """
    settings = settings_of(options)
    operand, key_type = _keys(keys)
    task = _Sort(operand, key_type, _values(values, operand), out)
    flags = _flags(descending, stable)
    call("sortie_sort", settings, operand.place, *task.arguments, flags)
    return task.result()


def argsort(
    keys: Any,
    *,
    descending: bool = False,
    stable: bool = True,
    dtype: Any = None,
    **options: Unpack[Options],
) -> Any:
    """The positions of the keys of one array in sorted order: ``keys[argsort(keys)]`` is sorted.

    Parameters
    ----------
    keys : array_like
        As for :func:`sort`. It is not changed.
    descending : bool
        The exact reverse of the ascending order of keys.
    stable : bool
        Accepted as by NumPy; equal keys are always in the order of their positions.
    dtype : dtype, optional
        Of the positions: int32, uint32, int64 or uint64. The default is int64, and int32 for arrays
        of JAX without 64-bit types. 32 bits take less time and memory.
    **options
        See :class:`sortie.Options`.

    Returns
    -------
    array
        Of the library of `keys`, and in the same place.

    Examples
    --------
    >>> import sortie
    >>> sortie.argsort([0.5, -1.0, 0.25])
    array([1, 2, 0])
    """
    settings = settings_of(options)
    operand, key_type = _contiguous_keys(keys)
    positions = operand.empty(operand.size, _position_dtype(dtype, operand))
    _call_on_keys(
        "sortie_argsort",
        settings,
        operand,
        key_type,
        positions.type_code(POSITION_TYPES),
        positions.pointer,
        _flags(descending, stable),
    )
    return positions.result()


def segmented_sort(
    keys: Any,
    offsets: Any = None,
    *,
    begin: Any = None,
    end: Any = None,
    values: Any = None,
    descending: bool = False,
    stable: bool = False,
    out: Any = None,
    **options: Unpack[Options],
) -> Any:
    """Sorts every segment of an array.

    Parameters
    ----------
    keys, values, descending, stable, out
        As for :func:`sort`.
    offsets : array_like of int32, uint32, int64 or uint64
        Segment i is ``keys[offsets[i]:offsets[i + 1]]``, as the rows of a CSR matrix.
    begin, end : array_like, instead of `offsets`
        Segment i is ``keys[begin[i]:end[i]]``. Segments may be empty, in any order and with gaps,
        whose elements are not moved, but must not overlap.
    **options
        See :class:`sortie.Options`.

    Returns
    -------
    array, or a pair of arrays with `values`
        Of the library of `keys`, and in the same place.

    Raises
    ------
    ValueError
        An offset is beyond the array, or a segment ends before it begins. Offsets on a GPU are not
        checked.

    Examples
    --------
    >>> import sortie
    >>> sortie.segmented_sort([3, 1, 2, 9, 8, 7], [0, 3, 6])
    array([1, 2, 3, 7, 8, 9])
    >>> sortie.segmented_sort([3, 1, 2, 9, 8, 7], begin=[4], end=[6])
    array([3, 1, 2, 9, 7, 8])
    """
    settings = settings_of(options)
    operand, key_type = _keys(keys)
    segments = _Segments(operand, offsets, begin, end)
    task = _Sort(operand, key_type, _values(values, operand), out)
    flags = _flags(descending, stable)
    view = byref(segments.view)
    call("sortie_segmented_sort", settings, operand.place, *task.arguments, view, flags)
    return task.result()


def segmented_argsort(
    keys: Any,
    offsets: Any = None,
    *,
    begin: Any = None,
    end: Any = None,
    descending: bool = False,
    stable: bool = True,
    dtype: Any = None,
    **options: Unpack[Options],
) -> Any:
    """The positions in the array of the keys of every segment in sorted order.

    Positions count from the start of the array, not of the segment. Those of elements outside of all
    segments are their own.

    Parameters
    ----------
    keys, descending, stable, dtype
        As for :func:`argsort`.
    offsets, begin, end
        As for :func:`segmented_sort`.
    **options
        See :class:`sortie.Options`.

    Returns
    -------
    array
        Of the library of `keys`, and in the same place.

    Examples
    --------
    >>> import sortie
    >>> sortie.segmented_argsort([3, 1, 2, 9, 8, 7], [0, 3, 6])
    array([1, 2, 0, 5, 4, 3])
    """
    settings = settings_of(options)
    operand, key_type = _contiguous_keys(keys)
    segments = _Segments(operand, offsets, begin, end)
    positions = operand.empty(operand.size, _position_dtype(dtype, operand))
    _call_on_keys(
        "sortie_segmented_argsort",
        settings,
        operand,
        key_type,
        byref(segments.view),
        positions.type_code(POSITION_TYPES),
        positions.pointer,
        _flags(descending, stable),
    )
    return positions.result()


def top_k(
    keys: Any,
    k: int,
    *,
    largest: bool = True,
    sorted: bool = True,
    dtype: Any = None,
    **options: Unpack[Options],
) -> tuple[Any, Any]:
    """The k greatest or least keys of one array, and their positions.

    Of equal keys, those at the lowest positions are selected, and come in the order of these.

    Parameters
    ----------
    keys : array_like
        As for :func:`sort`. It is not changed.
    k : int
        How many keys, from 0; of a shorter array, all.
    largest : bool
        The greatest keys, in descending order; otherwise the least, in ascending order. Floating-point
        keys are ordered as by :func:`sort`: NaN is the greatest.
    sorted : bool
        If false, the results are in any order, which may take less time.
    dtype : dtype, optional
        Of the positions, as for :func:`argsort`.
    **options
        See :class:`sortie.Options`.

    Returns
    -------
    pair of arrays
        The selected keys and their positions: ``keys[positions]`` are the selected keys. Of the
        library of `keys`, and in the same place.

    Examples
    --------
    >>> import sortie
    >>> sortie.top_k([3, 9, 1, 7], 2)
    (array([9, 7]), array([1, 3]))
    """
    settings = settings_of(options)
    operand, key_type = _contiguous_keys(keys)
    task = _TopK(operand, (min(_count(k), operand.size),), dtype)
    _call_on_keys(
        "sortie_top_k",
        settings,
        operand,
        key_type,
        task.shape[0],
        *task.arguments,
        _top_k_flags(largest, sorted),
    )
    return task.result()


def segmented_top_k(
    keys: Any,
    k: int,
    offsets: Any = None,
    *,
    begin: Any = None,
    end: Any = None,
    largest: bool = True,
    sorted: bool = True,
    dtype: Any = None,
    **options: Unpack[Options],
) -> tuple[Any, Any]:
    """The k greatest or least keys of every segment of an array, and their positions in the array.

    Parameters
    ----------
    keys, k, largest, sorted, dtype
        As for :func:`top_k`.
    offsets, begin, end
        As for :func:`segmented_sort`.
    **options
        See :class:`sortie.Options`.

    Returns
    -------
    pair of arrays
        The selected keys and their positions, each with one row of k elements for every segment. A row
        of a segment with fewer than k keys ends with keys of 0 and positions of -1 (of an unsigned
        dtype, its greatest number).

    Raises
    ------
    ValueError
        As :func:`segmented_sort`.

    Examples
    --------
    >>> import sortie
    >>> keys, positions = sortie.segmented_top_k([3, 1, 2, 9, 8], 2, [0, 3, 4, 5])
    >>> keys.tolist(), positions.tolist()
    ([[3, 2], [9, 0], [8, 0]], [[0, 2], [3, -1], [4, -1]])
    """
    settings = settings_of(options)
    operand, key_type = _contiguous_keys(keys)
    segments = _Segments(operand, offsets, begin, end)
    task = _TopK(operand, (segments.view.count, _count(k)), dtype)
    _call_on_keys(
        "sortie_segmented_top_k",
        settings,
        operand,
        key_type,
        byref(segments.view),
        task.shape[1],
        *task.arguments,
        _top_k_flags(largest, sorted),
    )
    return task.result()


# --- Arguments ------------------------------------------------------------------------------------


def _flags(descending: bool, stable: bool) -> int:
    return (_library.DESCENDING if descending else 0) | (_library.STABLE if stable else 0)


def _top_k_flags(largest: bool, is_sorted: bool) -> int:
    return (_library.DESCENDING if largest else 0) | (0 if is_sorted else _library.UNSORTED)


def _count(k: int) -> int:
    count = operator.index(k)
    if count < 0:
        raise ValueError(f"k is {count}; expected 0 or more")
    return count


def _keys(keys: object) -> tuple[Array, int]:
    """The keys, and the sortie_type of them."""
    operand = array("keys", keys)
    operand.require_1d()
    return operand, operand.type_code(KEY_TYPES)


def _contiguous_keys(keys: object) -> tuple[Array, int]:
    operand, key_type = _keys(keys)
    return operand.contiguous(), key_type


def _call_on_keys(
    name: str, settings: Settings, keys: Array, key_type: int, *arguments: Any
) -> None:
    """Calls a function of the C interface that reads contiguous keys and does not change them."""
    memory = keys.place.memory
    call(name, settings, keys.place, memory, key_type, keys.pointer, keys.size, *arguments)


def _values(values: object, keys: Array) -> Optional[Array]:
    if values is None:
        return None
    operand = keys.companion("values", values)
    if len(operand.shape) == 0 or operand.size != keys.size:
        raise ValueError(
            f"values has shape {operand.shape} and keys has shape {keys.shape}; expected a first"
            " axis of the same length"
        )
    if isinstance(operand.dtype, np.dtype) and operand.dtype.hasobject:
        raise TypeError("values has dtype object; expected elements of a fixed size")
    return operand


class _Sort:
    """Keys and values of a sort, and where they go."""

    __slots__ = ("_keys", "_sorted_keys", "_values", "_sorted_values", "arguments")

    def __init__(self, keys: Array, key_type: int, values: Optional[Array], out: Any) -> None:
        if values is not None and out is None:
            out = (None, None)
        if values is not None and not (isinstance(out, tuple) and len(out) == 2):
            raise TypeError("out is not a pair of arrays; expected one for keys and one for values")
        self._keys, self._sorted_keys = _in_and_out(
            "out", keys, out if values is None else out[0]
        )
        self._values = self._sorted_values = None
        if values is not None:
            self._values, self._sorted_values = _in_and_out("out[1]", values, out[1])
            if _overlap(self._sorted_keys, self._sorted_values):
                raise ValueError("out[0] and out[1] overlap; expected two arrays")
            # What is written must not be what is still to be read.
            if _overlap(self._keys, self._sorted_values):
                self._keys = self._keys.copy()
            if _overlap(self._values, self._sorted_keys):
                self._values = self._values.copy()
            # The library sorts both in place or none.
            if self._keys.pointer == self._sorted_keys.pointer:
                if self._values.pointer != self._sorted_values.pointer:
                    self._keys = self._keys.copy()
            elif self._values.pointer == self._sorted_values.pointer:
                self._values = self._values.copy()
        self.arguments = (
            keys.place.memory,
            key_type,
            self._keys.pointer,
            self._sorted_keys.pointer,
            keys.size,
            self._values.pointer if self._values else None,
            self._sorted_values.pointer if self._sorted_values else None,
            self._values.row_bytes if self._values else 0,
        )

    def result(self) -> Any:
        keys = self._sorted_keys.result()
        return (keys, self._sorted_values.result()) if self._sorted_values else keys


class _TopK:
    """The results of a selection: keys and positions of the same shape."""

    __slots__ = ("_keys", "_positions", "shape", "arguments")

    def __init__(self, keys: Array, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape = shape
        self._keys = keys.empty(shape, keys.dtype)
        self._positions = keys.empty(shape, _position_dtype(dtype, keys))
        self.arguments = (
            self._keys.pointer,
            self._positions.type_code(POSITION_TYPES),
            self._positions.pointer,
        )

    def result(self) -> tuple[Any, Any]:
        return self._keys.result(), self._positions.result()


def _in_and_out(argument: str, operand: Array, out: object) -> tuple[Array, Array]:
    """An operand as the library takes it, and the array that the result is written to."""
    source = operand if operand.is_contiguous else operand.copy()
    if out is None:
        return source, source.empty(source.shape, source.dtype)
    target = operand.companion(argument, out)
    target.require_output()
    if target.shape != operand.shape or target.dtype != operand.dtype:
        raise ValueError(
            f"{argument} has shape {target.shape} and dtype {target.dtype}; expected"
            f" {operand.shape} and {operand.dtype}, as {operand.argument}"
        )
    if target.pointer != source.pointer and _overlap(source, target):
        source = source.copy()
    return source, target


def _overlap(a: Array, b: Array) -> bool:
    return a.pointer < b.pointer + b.bytes and b.pointer < a.pointer + a.bytes


def _position_dtype(dtype: Any, keys: Array) -> Dtype:
    if dtype is None:
        return keys.index_dtype
    name = str(dtype).rpartition(".")[2] if "torch" in str(dtype) else dtype
    positions = np.dtype(name)
    type_code("dtype of positions", positions, POSITION_TYPES)
    return positions


class _Segments:
    """A sortie_segments, and the arrays that it points to."""

    __slots__ = ("_arrays", "view")

    def __init__(self, keys: Array, offsets: object, begin: object, end: object) -> None:
        if (offsets is None) == (begin is None and end is None) or (begin is None) != (end is None):
            raise TypeError("expected either offsets, or both begin and end")
        if offsets is not None:
            both, offset_type = self._bounds(keys, "offsets", offsets)
            if both.size == 0:
                raise ValueError(
                    "offsets has shape (0,); expected one element more than there are segments"
                )
            self._arrays = (both, both)
            count = both.size - 1
            ends = both.pointer + both.itemsize
        else:
            first, offset_type = self._bounds(keys, "begin", begin)
            last, _ = self._bounds(keys, "end", end)
            if first.shape != last.shape or first.dtype != last.dtype:
                raise ValueError(
                    f"begin has shape {first.shape} and dtype {first.dtype}, end has shape"
                    f" {last.shape} and dtype {last.dtype}; expected the same"
                )
            self._arrays = (first, last)
            count = first.size
            ends = last.pointer
        self.view = _library.Segments(count, offset_type, self._arrays[0].pointer, ends)

    @staticmethod
    def _bounds(keys: Array, argument: str, operand: object) -> tuple[Array, int]:
        """Offsets in the place of the keys, and the sortie_type of them."""
        if isinstance(operand, (list, tuple)):
            operand = np.asarray(operand)
            if operand.dtype.kind in "iu" or operand.size == 0:
                operand = operand.astype(keys.index_dtype)
        bounds = keys.companion(argument, operand)
        bounds.require_1d()
        return bounds.contiguous(), bounds.type_code(POSITION_TYPES)
