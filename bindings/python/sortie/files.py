# SPDX-License-Identifier: Apache-2.0
"""Files: Matrix Market, FASTA and FASTQ."""

from __future__ import annotations

import contextlib
import operator
import os
import shutil
import stat
import tempfile
from ctypes import byref, c_uint64
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple, Optional, Union

import numpy as np

from . import _library
from ._arrays import NumpyArray, type_code
from ._context import HOST, call
from ._library import lib
from ._matrices import INT32, INT64, VALUE_TYPES, fits_int32, matrix
from ._memory import Handle, host_array
from ._options import Options, settings_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

PathLike = Union[str, "os.PathLike[str]"]


def _encoded(path: Union[str, bytes]) -> bytes:
    """A path for the library, which takes "-" for standard input and output."""
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ValueError(f"path is {path!r}; expected one without a null character")
    return b"./-" if encoded == b"-" else encoded


@contextlib.contextmanager
def _readable(source: Any) -> Iterator[bytes]:
    """The path of a file to read.

    The content of a file object, or of a pipe, which can be read only once, is copied to a temporary
    file.
    """
    if not hasattr(source, "read"):
        path = os.fspath(source)
        with open(path, "rb") as file:  # FileNotFoundError, PermissionError
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                with _readable(file) as copied:
                    yield copied
                return
        yield _encoded(path)
        return
    with tempfile.NamedTemporaryFile(prefix="sortie-") as copy:
        try:
            shutil.copyfileobj(source, copy)
        except TypeError:
            raise TypeError("source is a file in text mode; expected binary mode") from None
        copy.flush()
        yield os.fsencode(copy.name)


def read_matrix_market(
    source: Any, *, dtype: Any = None, spmatrix: bool = True, **options: Unpack[Options]
) -> Any:
    """Reads a Matrix Market file: plain, gzip or zstd.

    Parameters
    ----------
    source : path or binary file object
        The content of a file object is copied to a temporary file.
    dtype : dtype, optional
        Of the values: float32, float64 or complex128. The default is complex128 for complex matrices
        and float64 for others. Patterns have ones as values.
    spmatrix : bool
        Whether to return a csr_matrix, as ``scipy.io.mmread`` does by default; else a csr_array.
    **options
        See :class:`sortie.Options`.

    Returns
    -------
    scipy.sparse.csr_matrix or csr_array
        In canonical form: duplicates are added up. Symmetric, skew-symmetric and hermitian matrices
        are read as the whole matrix.

    Raises
    ------
    ValueError
        The file is not a Matrix Market file; the message has the line.
    OSError
        It cannot be read.

    Examples
    --------
    >>> import io, sortie
    >>> text = b"%%MatrixMarket matrix coordinate real general\\n2 2 1\\n1 2 0.5\\n"
    >>> sortie.read_matrix_market(io.BytesIO(text)).toarray()
    array([[0. , 0.5],
           [0. , 0. ]])
    """
    import scipy.sparse

    settings = settings_of(options)
    handle = Handle("sortie_csr_destroy")
    header = _library.MatrixHeader()
    with _readable(source) as path:
        call("sortie_read_matrix_header", settings, HOST, path, byref(header))
        if dtype is None:
            dtype = np.complex128 if header.is_complex else np.float64
        value_dtype = np.dtype(dtype)
        value_type = type_code("dtype of the matrix", value_dtype, VALUE_TYPES)
        narrow = fits_int32(header.rows, header.cols)
        index_type = _library.I32 if narrow else _library.I64
        call(
            "sortie_read_matrix", settings, HOST, path, value_type, index_type, byref(handle.pointer)
        )
    view = lib.sortie_csr_get(handle.pointer)
    index_dtype = INT32 if narrow and fits_int32(view.nnz) else INT64
    offsets = host_array(handle, view.row_ptr, view.rows + 1, INT64)
    indices = host_array(handle, view.col_idx, view.nnz, INT32 if narrow else INT64)
    values = host_array(handle, view.values, view.nnz, value_dtype)
    make = scipy.sparse.csr_matrix if spmatrix else scipy.sparse.csr_array
    result = make(
        (values, indices.astype(index_dtype, copy=False), offsets.astype(index_dtype, copy=False)),
        shape=(view.rows, view.cols),
        copy=False,
    )
    result.has_sorted_indices = True
    result.has_canonical_format = True
    return result


def write_matrix_market(target: Any, A: Any, **options: Unpack[Options]) -> None:
    """Writes a sparse matrix as a Matrix Market file, which appears whole or not at all.

    Parameters
    ----------
    target : path or binary file object
    A : sparse matrix of SciPy, or a tensor of PyTorch of layout sparse_csr in host memory
        With values of type float32, float64 or complex128. A csc matrix is converted to csr.
    **options
        See :class:`sortie.Options`.

    Raises
    ------
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import io, scipy.sparse, sortie
    >>> file = io.BytesIO()
    >>> sortie.write_matrix_market(file, scipy.sparse.csr_matrix([[0.0, 0.5]]))
    >>> print(file.getvalue().decode())
    %%MatrixMarket matrix coordinate real general
    1 2 1
    1 2 0.5
    <BLANKLINE>
    """
    settings = settings_of(options)
    operand = matrix("A", A)
    if operand.place.on_device:
        raise TypeError(
            f"A is on GPU {operand.place.device}; expected a matrix in host memory, such as A.get()"
        )
    if operand.format == "csc":
        operand = matrix("A", A.tocsr())
    operand = operand.cast(operand.offsets.dtype, operand.indices.dtype, operand.values.dtype)
    view = operand.view()
    if not hasattr(target, "write"):
        path = _encoded(os.fspath(target))
        call("sortie_write_matrix", settings, HOST, path, byref(view))
        return
    with tempfile.TemporaryDirectory(prefix="sortie-") as folder:
        written = os.path.join(folder, "matrix.mtx")
        call("sortie_write_matrix", settings, HOST, os.fsencode(written), byref(view))
        with open(written, "rb") as file:
            shutil.copyfileobj(file, target)


class Record(NamedTuple):
    """A record of a FASTA or FASTQ file."""

    name: str
    symbols: NumpyArray
    """uint8, a view of the text of all records"""


class Sequences:
    """Records of a FASTA or FASTQ file, joined into one text with a separator between neighbours.

    Attributes
    ----------
    symbols : numpy.ndarray of uint8
        The text: the symbols of all records, and a 0 between neighbours.
    separators : numpy.ndarray of uint64
        The positions of the zeros in the text.
    offsets, lengths : numpy.ndarray of int64
        The first symbol of every record in the text, and its number of symbols.
    names : list of str
        Read from the library when they are first asked for.

    Examples
    --------
    >>> import io, sortie
    >>> genome = sortie.read_fasta(io.BytesIO(b">one\\nACGT\\n>two\\nGG\\n"))
    >>> genome
    <sortie.Sequences: 2 records, 6 symbols>
    >>> genome[1].name, bytes(genome[1].symbols)
    ('two', b'GG')
    >>> genome.record_of([5, 6])
    (array([1, 1]), array([0, 1]))
    """

    def __init__(
        self,
        symbols: NumpyArray,
        separators: NumpyArray,
        count: int,
        names: Optional[list[str]] = None,
        handle: Optional[Handle] = None,
    ) -> None:
        self.symbols = symbols
        self.separators = separators
        ends = np.append(separators, np.uint64(symbols.size))[:count].astype(np.int64)
        starts = np.append(np.uint64(0), separators + np.uint64(1))[:count].astype(np.int64)
        self.offsets: NumpyArray = starts
        self.lengths: NumpyArray = ends - starts
        self._names = names
        self._handle = handle

    @property
    def names(self) -> list[str]:
        if self._names is None:
            assert self._handle is not None
            offset, length = c_uint64(), c_uint64()
            self._names = [
                lib.sortie_sequences_record(
                    self._handle.pointer, i, byref(offset), byref(length)
                ).decode(errors="replace")
                for i in range(len(self))
            ]
        return self._names

    def record_of(self, positions: Any) -> tuple[NumpyArray, NumpyArray]:
        """The record that holds each position of the text, and the position within it.

        Parameters
        ----------
        positions : array_like of integers
            Such as :meth:`SuffixIndex.locate` returns. A separator belongs to the record before it.
        """
        where = np.asarray(positions).astype(np.int64, copy=False)
        if where.size and not (0 <= where.min() and where.max() < self.symbols.size):
            raise IndexError(
                f"positions are from {where.min()} to {where.max()}; expected 0 to"
                f" {self.symbols.size - 1}"
            )
        records = np.searchsorted(self.offsets, where, side="right") - 1
        return records, where - self.offsets[records]

    def __len__(self) -> int:
        return len(self.offsets)

    def __getitem__(self, i: int) -> Record:
        i = operator.index(i)
        if not -len(self) <= i < len(self):
            raise IndexError(f"record {i} of {len(self)}")
        start = self.offsets[i]
        return Record(self.names[i], self.symbols[start : start + self.lengths[i]])

    def __iter__(self) -> Iterator[Record]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<sortie.Sequences: {len(self)} records, {self.lengths.sum()} symbols>"


def read_fasta(
    source: Any, *, alphabet: str = "auto", keep_case: bool = False, **options: Unpack[Options]
) -> Sequences:
    """Reads a FASTA or FASTQ file: plain, gzip or zstd.

    Parameters
    ----------
    source : path or binary file object
        The content of a file object is copied to a temporary file.
    alphabet : {"auto", "dna", "dna-iupac", "rna", "rna-iupac", "protein", "bytes"}
        A symbol that is not in it is an error.
    keep_case : bool
        Keeps lower case, which is raised otherwise.
    **options
        See :class:`sortie.Options`.

    Raises
    ------
    ValueError
        The file is invalid; the message has the line.
    OSError
        It cannot be read.
    """
    settings = settings_of(options)
    if "\0" in alphabet:
        raise ValueError(f"alphabet is {alphabet!r}; expected one without a null character")
    handle = Handle("sortie_sequences_destroy")
    flags = _library.KEEP_CASE if keep_case else 0
    with _readable(source) as path:
        call(
            "sortie_read_sequences",
            settings,
            HOST,
            path,
            alphabet.encode(),
            flags,
            byref(handle.pointer),
        )
    text = lib.sortie_sequences_text(handle.pointer)
    return Sequences(
        host_array(handle, text.symbols, text.size, np.dtype(np.uint8)),
        host_array(handle, text.separators, text.separator_count, np.dtype(np.uint64)),
        lib.sortie_sequences_count(handle.pointer),
        handle=handle,
    )
