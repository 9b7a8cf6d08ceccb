# SPDX-License-Identifier: Apache-2.0
"""Sortie: segmented sort, products of sparse matrices, suffix arrays; on CPUs and NVIDIA GPUs.

Every call takes arrays of NumPy, CuPy, PyTorch or JAX and returns arrays of the same library in the
same place. Arrays on a GPU are processed there, on the current stream of their library. Every call
accepts the keywords of :class:`Options`.

Errors are those of Python: ValueError for invalid data and calls, TypeError for types, MemoryError,
OSError for files, KeyboardInterrupt when Ctrl-C cancelled a call; :class:`DeviceError` for GPUs, and
:class:`Error` for the rest.
"""

from ._errors import DeviceError, Error
from ._info import Device, Info, info
from ._library import lib as _lib
from ._options import Options
from .files import Record, Sequences, read_fasta, read_matrix_market, write_matrix_market
from .sorting import argsort, segmented_argsort, segmented_sort, segmented_top_k, sort, top_k
from .sparse import SpgemmPlan, spgemm
from .suffixes import SuffixIndex, bwt, lcp, suffix_array

__version__: str = _lib.sortie_version().decode()

__all__ = [
    "Device",
    "DeviceError",
    "Error",
    "Info",
    "Options",
    "Record",
    "Sequences",
    "SpgemmPlan",
    "SuffixIndex",
    "argsort",
    "bwt",
    "info",
    "lcp",
    "read_fasta",
    "read_matrix_market",
    "segmented_argsort",
    "segmented_sort",
    "segmented_top_k",
    "sort",
    "spgemm",
    "suffix_array",
    "top_k",
    "write_matrix_market",
]
