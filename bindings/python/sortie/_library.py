# SPDX-License-Identifier: Apache-2.0
"""Finds and loads libsortie.so, and declares its C interface (include/sortie/sortie.h)."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from ctypes import POINTER, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Sequence

INTERFACE_VERSION = 1
"""SORTIE_INTERFACE_VERSION of the header that this file follows."""

# sortie_status
OK = 0
INPUT = 1
USAGE = 2
OUTPUT = 3
OUT_OF_MEMORY = 4
UNAVAILABLE = 5
DEVICE = 6
CHECK = 7
CANCELLED = 8
INTERNAL = 9

# sortie_memory
HOST_MEMORY = 0
DEVICE_MEMORY = 1

# sortie_type
U8 = 0
I8 = 1
U16 = 2
I16 = 3
U32 = 4
I32 = 5
F32 = 6
U64 = 7
I64 = 8
F64 = 9
C128 = 10
F16 = 11
BF16 = 12

BACKENDS = {"auto": 0, "cuda": 1, "host": 2}
"""sortie_backend by the names that the command line uses."""

# Flags
DESCENDING = 1
STABLE = 2
UNSORTED = 4
DROP_ZEROS = 1
KEEP_CASE = 1


class DeviceInfo(ctypes.Structure):
    """sortie_device_info"""

    _fields_ = [
        ("ordinal", c_int),
        ("compute_major", c_int),
        ("compute_minor", c_int),
        ("multiprocessors", c_int),
        ("memory_total", c_uint64),
        ("memory_free", c_uint64),
        ("name", c_char * 128),
    ]


class Segments(ctypes.Structure):
    """sortie_segments"""

    _fields_ = [
        ("count", c_uint64),
        ("offset_type", c_int),
        ("begins", c_void_p),
        ("ends", c_void_p),
    ]


class ArrayView(ctypes.Structure):
    """sortie_array_view"""

    _fields_ = [
        ("data", c_void_p),
        ("size", c_uint64),
        ("type", c_int),
        ("memory", c_int),
        ("device", c_int),
    ]


class CsrView(ctypes.Structure):
    """sortie_csr_view"""

    _fields_ = [
        ("rows", c_int64),
        ("cols", c_int64),
        ("nnz", c_int64),
        ("row_ptr_type", c_int),
        ("col_idx_type", c_int),
        ("value_type", c_int),
        ("memory", c_int),
        ("row_ptr", c_void_p),
        ("col_idx", c_void_p),
        ("values", c_void_p),
    ]


class Text(ctypes.Structure):
    """sortie_text"""

    _fields_ = [
        ("symbols", c_void_p),
        ("size", c_uint64),
        ("separators", c_void_p),
        ("separator_count", c_uint64),
        ("memory", c_int),
    ]


class Patterns(ctypes.Structure):
    """sortie_patterns"""

    _fields_ = [("letters", c_void_p), ("begins", c_void_p), ("count", c_uint64)]


class MatrixHeader(ctypes.Structure):
    """sortie_matrix_header"""

    _fields_ = [
        ("rows", c_int64),
        ("cols", c_int64),
        ("entries", c_int64),
        ("is_complex", c_int),
        ("is_pattern", c_int),
        ("is_symmetric", c_int),
    ]


Progress = ctypes.CFUNCTYPE(c_int, c_void_p, c_char_p, c_uint64, c_uint64)
"""sortie_progress"""

_status = c_int
_handle = c_void_p  # of every opaque type
_result = POINTER(c_void_p)

_FUNCTIONS: dict[str, tuple[Any, Sequence[Any]]] = {
    "sortie_type_bytes": (c_size_t, [c_int]),
    "sortie_context_create": (_handle, []),
    "sortie_context_destroy": (None, [_handle]),
    "sortie_set_backend": (_status, [_handle, c_int]),
    "sortie_set_device": (_status, [_handle, c_int]),
    "sortie_set_stream": (_status, [_handle, c_void_p]),
    "sortie_set_threads": (_status, [_handle, c_int]),
    "sortie_set_memory_budget": (_status, [_handle, c_uint64]),
    "sortie_set_progress": (_status, [_handle, Progress, c_void_p]),
    "sortie_last_error": (c_char_p, [_handle]),
    "sortie_interface_version": (c_int, []),
    "sortie_version": (c_char_p, []),
    "sortie_commit": (c_char_p, []),
    "sortie_built_with_cuda": (c_int, []),
    "sortie_cuda_toolkit_version": (c_char_p, []),
    "sortie_device_count": (c_int, []),
    "sortie_why_no_device": (c_char_p, []),
    "sortie_get_device": (_status, [_handle, c_int, POINTER(DeviceInfo)]),
    "sortie_device_memory_in_use": (_status, [_handle, POINTER(c_uint64)]),
    # sorts
    "sortie_sort": (
        _status,
        [_handle, c_int, c_int, c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_size_t, c_uint],
    ),
    "sortie_argsort": (
        _status,
        [_handle, c_int, c_int, c_void_p, c_uint64, c_int, c_void_p, c_uint],
    ),
    "sortie_segmented_sort": (
        _status,
        [_handle, c_int, c_int, c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_size_t]
        + [POINTER(Segments), c_uint],
    ),
    "sortie_segmented_argsort": (
        _status,
        [_handle, c_int, c_int, c_void_p, c_uint64, POINTER(Segments), c_int, c_void_p, c_uint],
    ),
    "sortie_top_k": (
        _status,
        [_handle, c_int, c_int, c_void_p, c_uint64, c_uint64, c_void_p, c_int, c_void_p, c_uint],
    ),
    "sortie_segmented_top_k": (
        _status,
        [_handle, c_int, c_int, c_void_p, c_uint64, POINTER(Segments), c_uint64, c_void_p]
        + [c_int, c_void_p, c_uint],
    ),
    # arrays
    "sortie_array_get": (ArrayView, [_handle]),
    "sortie_array_destroy": (None, [_handle]),
    # sparse matrices
    "sortie_csr_get": (CsrView, [_handle]),
    "sortie_csr_copy": (_status, [_handle, _handle, c_int, c_void_p, c_int, c_void_p, c_void_p]),
    "sortie_csr_destroy": (None, [_handle]),
    "sortie_spgemm": (_status, [_handle, POINTER(CsrView), POINTER(CsrView), c_uint, _result]),
    "sortie_plan_create": (_status, [_handle, POINTER(CsrView), POINTER(CsrView), _result]),
    "sortie_plan_get": (CsrView, [_handle]),
    "sortie_plan_multiply": (_status, [_handle, _handle, c_void_p, c_void_p, c_void_p]),
    "sortie_plan_destroy": (None, [_handle]),
    # suffix arrays
    "sortie_suffix_array": (_status, [_handle, POINTER(Text), c_int, _result]),
    "sortie_inverse_suffix_array": (_status, [_handle, c_int, c_int, c_void_p, c_uint64, _result]),
    "sortie_lcp": (_status, [_handle, POINTER(Text), c_int, c_void_p, _result]),
    "sortie_bwt": (_status, [_handle, POINTER(Text), c_int, c_void_p, _result]),
    "sortie_check_suffix_array": (_status, [_handle, POINTER(Text), c_int, c_void_p]),
    "sortie_find": (
        _status,
        [_handle, POINTER(Text), c_int, c_void_p, POINTER(Patterns), c_void_p, c_void_p],
    ),
    "sortie_locate": (
        _status,
        [_handle, POINTER(Text), c_int, c_void_p, POINTER(Patterns), c_uint64, c_void_p, _result],
    ),
    # files
    "sortie_read_matrix_header": (_status, [_handle, c_char_p, POINTER(MatrixHeader)]),
    "sortie_read_matrix": (_status, [_handle, c_char_p, c_int, c_int, _result]),
    "sortie_write_matrix": (_status, [_handle, c_char_p, POINTER(CsrView)]),
    "sortie_read_sequences": (_status, [_handle, c_char_p, c_char_p, c_uint, _result]),
    "sortie_sequences_text": (Text, [_handle]),
    "sortie_sequences_count": (c_uint64, [_handle]),
    "sortie_sequences_record": (
        c_char_p,
        [_handle, c_uint64, POINTER(c_uint64), POINTER(c_uint64)],
    ),
    "sortie_sequences_destroy": (None, [_handle]),
}


def candidates() -> list[str]:
    """The places where the library is looked for, in this order."""
    named = os.environ.get("SORTIE_LIBRARY")
    if named:
        return [named]
    package = Path(__file__).resolve().parent
    candidates = [str(package / "libsortie.so")]
    if package.parents[1].name == "bindings":  # in the source tree
        candidates.append(str(package.parents[2] / "build" / "libsortie.so"))
    return [*candidates, ctypes.util.find_library("sortie") or "libsortie.so"]


def declare(library: ctypes.CDLL) -> None:
    """Sets the types of every function of the C interface."""
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments


def open_library(path: str) -> ctypes.CDLL:
    """Loads one library and checks that it has the interface of this package.

    Raises
    ------
    OSError
        The file is not there, or is not a shared library.
    ImportError
        The library has no C interface, or another version of it.
    """
    library = ctypes.CDLL(path)
    try:
        library.sortie_interface_version.restype = c_int
        found = library.sortie_interface_version()
    except AttributeError:
        raise ImportError(f"{path} is a library without the C interface of Sortie") from None
    if found != INTERFACE_VERSION:
        raise ImportError(
            f"{path} has version {found} of the C interface, and this package was written for"
            f" version {INTERFACE_VERSION}: install a package and a library of the same release"
        )
    try:
        declare(library)
    except AttributeError as missing:
        raise ImportError(f"{path} lacks a function of the C interface: {missing}") from None
    return library


def load() -> tuple[ctypes.CDLL, str]:
    """The first library that can be loaded, and where it was found."""
    failures = []
    for path in candidates():
        try:
            return open_library(path), path
        except OSError as failure:
            failures.append(f"  {path}: {failure}")
    raise ImportError(
        "libsortie.so was not found. Set the environment variable SORTIE_LIBRARY to its path."
        " Looked for:\n" + "\n".join(failures)
    )


lib, library_path = load()
