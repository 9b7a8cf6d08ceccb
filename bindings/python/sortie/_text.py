# SPDX-License-Identifier: Apache-2.0
"""Texts, suffix arrays and patterns as the library takes them."""

from __future__ import annotations

import os
from typing import Any, Optional, Union

import numpy as np

from . import _library
from ._arrays import KEY_TYPES, Array, Dtype, HostArray, NumpyArray, array
from .files import Sequences, read_fasta

U8 = np.dtype(np.uint8)
U64 = np.dtype(np.uint64)
I64 = np.dtype(np.int64)

INTEGER_TYPES = {dtype: code for dtype, code in KEY_TYPES.items() if dtype.kind in "iu"}

POSITION_TYPES: dict[Dtype, int] = {
    np.dtype(np.uint32): _library.U32,
    np.dtype(np.int32): _library.U32,
    np.dtype(np.uint64): _library.U64,
    np.dtype(np.int64): _library.U64,
}
"""Entries of suffix arrays. They are less than the size of the text: signed ones are the same bits."""

LARGEST_NARROW_TEXT = 2**32 - 2


def _symbols(argument: str, value: Any) -> Any:
    """bytes and str as an array of symbols; other objects as they are."""
    if isinstance(value, str):
        try:
            value = value.encode("ascii")
        except UnicodeEncodeError as failure:
            raise ValueError(
                f"{argument} has a character that is not ASCII, at {failure.start}; encode it, since"
                " positions count bytes"
            ) from None
    if isinstance(value, (bytes, bytearray, memoryview)):
        return np.frombuffer(value, U8) if len(value) else np.empty(0, U8)
    return value


class Text:
    """A text of the caller.

    Parameters
    ----------
    text : bytes, str, array of uint8, path of a FASTA file, Sequences
    separators : array_like, optional
        Ascending positions of record ends.
    options : dict
        For the reader of files.
    """

    def __init__(self, text: Any, separators: Any, options: Any) -> None:
        self.sequences: Optional[Sequences] = None
        if isinstance(text, os.PathLike):
            text = read_fasta(text, **options)
        if isinstance(text, Sequences):
            if separators is not None:
                raise ValueError("separators were given for a text that has its own; expected none")
            self.sequences = text
            text, separators = text.symbols, text.separators
        self.symbols: Array = array("text", _symbols("text", text))
        self.symbols.require_1d()
        if self.symbols.dtype != U8 and self.symbols.size:
            raise TypeError(f"text has dtype {self.symbols.dtype}; expected uint8, bytes or str")
        self.symbols = self.symbols.contiguous()
        self.separators: Optional[Array] = None
        if separators is not None:
            self.separators = self._separators(separators)

    def _separators(self, separators: Any) -> Array:
        """64-bit integers in the place of the symbols.

        They are signed ones if they are converted, which every library has: the bits are the same.
        """
        if isinstance(separators, (list, tuple)):
            separators = np.array(separators, np.int64)
        if isinstance(separators, np.ndarray) and separators.dtype == U64:
            separators = separators.view(np.int64)
        operand = self.symbols.companion("separators", separators)
        operand.require_1d()
        operand.type_code(INTEGER_TYPES)
        return operand.contiguous() if operand.itemsize == 8 else operand.astype(I64)

    @property
    def size(self) -> int:
        return self.symbols.size

    def view(self) -> _library.Text:
        """A sortie_text. The object must exist as long as it is used."""
        return _library.Text(
            self.symbols.pointer,
            self.size,
            self.separators.pointer if self.separators else None,
            self.separators.size if self.separators else 0,
            self.symbols.place.memory,
        )

    def position_dtype(self, dtype: Any) -> Dtype:
        """The type of positions in this text; the default is the narrowest unsigned one."""
        if dtype is None:
            narrow = self.size <= LARGEST_NARROW_TEXT
            if not self.symbols.has_unsigned_types:
                return np.dtype(np.int64)
            return np.dtype(np.uint32 if narrow else np.uint64)
        name = str(dtype).rpartition(".")[2] if "torch" in str(dtype) else dtype
        wanted = np.dtype(name)
        if wanted not in POSITION_TYPES:
            raise TypeError(f"dtype is {wanted}; expected uint32, int32, uint64 or int64")
        largest = {"uint32": LARGEST_NARROW_TEXT, "int32": 2**31 - 1}.get(wanted.name, 2**63 - 1)
        if self.size > largest:
            raise ValueError(f"text has {self.size} symbols; expected at most {largest} for {wanted}")
        return wanted

    def suffixes(self, argument: str, suffixes: Any) -> Array:
        """A suffix array of this text, in the same place."""
        operand = self.symbols.companion(argument, suffixes)
        operand.require_1d()
        if operand.dtype not in POSITION_TYPES:
            raise TypeError(
                f"{argument} has dtype {operand.dtype}; expected uint32, int32, uint64 or int64"
            )
        if operand.size != self.size:
            raise ValueError(
                f"{argument} has {operand.size} entries; expected {self.size}, as the text has symbols"
            )
        return operand.contiguous()


class Patterns:
    """Patterns of the caller, joined.

    Parameters
    ----------
    patterns : bytes or str, one pattern; or a sequence of them; or Sequences
        Also an array of uint8 of one dimension, one pattern, or of two, a pattern in each row.
    """

    def __init__(self, patterns: Any) -> None:
        self.is_one = False
        patterns = _symbols("patterns", patterns)
        if isinstance(patterns, Sequences):
            letters, begins = _join_records(patterns)
        elif isinstance(patterns, np.ndarray) and patterns.dtype == U8 and patterns.ndim in (1, 2):
            self.is_one = patterns.ndim == 1
            rows = patterns[np.newaxis, :] if self.is_one else patterns
            count, length = rows.shape
            letters = np.ascontiguousarray(rows).reshape(-1)
            begins = np.arange(count + 1, dtype=np.uint64) * np.uint64(length)
        elif isinstance(patterns, (list, tuple)):
            parts = [_one_pattern(i, pattern) for i, pattern in enumerate(patterns)]
            letters = _symbols("patterns", b"".join(parts))
            begins = np.zeros(len(parts) + 1, U64)
            np.cumsum([len(part) for part in parts], out=begins[1:], dtype=U64)
        else:
            raise TypeError(
                f"patterns is of type {type(patterns).__name__}; expected bytes, str, a list of them,"
                " an array of uint8 of one or two dimensions, or Sequences"
            )
        self.letters: NumpyArray = letters
        self.begins: NumpyArray = begins

    def __len__(self) -> int:
        return len(self.begins) - 1

    def view(self) -> _library.Patterns:
        """A sortie_patterns. The object must exist as long as it is used."""
        return _library.Patterns(self.letters.ctypes.data, self.begins.ctypes.data, len(self))


def _one_pattern(i: int, pattern: Union[bytes, str, Any]) -> bytes:
    symbols = _symbols(f"patterns[{i}]", pattern)
    if not (isinstance(symbols, np.ndarray) and symbols.dtype == U8 and symbols.ndim == 1):
        raise TypeError(
            f"patterns[{i}] is of type {type(pattern).__name__}; expected bytes, str, or an array of"
            " uint8 of one dimension"
        )
    return symbols.tobytes()


def _join_records(sequences: Sequences) -> tuple[NumpyArray, NumpyArray]:
    """The symbols of all records without the separators between them, and where each one begins."""
    letters = np.delete(sequences.symbols, sequences.separators.astype(np.int64))
    begins = np.zeros(len(sequences) + 1, U64)
    np.cumsum(sequences.lengths, out=begins[1:], dtype=U64)
    return letters, begins


def require_host(text: Text, what: str) -> None:
    if not isinstance(text.symbols, HostArray):
        raise TypeError(
            f"text is on GPU {text.symbols.place.device}; expected host memory for {what}, which may"
            " still compute on a GPU: backend='cuda'"
        )
