# SPDX-License-Identifier: Apache-2.0
"""Suffix arrays, and searches by them."""

from __future__ import annotations

import os
import tempfile
import zipfile
from ctypes import byref
from typing import TYPE_CHECKING, Any, Mapping, Optional

import numpy as np

from ._arrays import ARRAY_DTYPES, Array, Dtype, NumpyArray
from ._context import HOST, call
from ._library import lib
from ._memory import Handle, host_array
from ._options import Options, Settings, checked_count, settings_of
from ._text import POSITION_TYPES, U8, U64, Patterns, Text, require_host
from .files import PathLike, Sequences

if TYPE_CHECKING:
    from typing_extensions import Unpack


ALL_POSITIONS = 2**64 - 1
"""No limit of :meth:`SuffixIndex.locate`."""


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def suffix_array(
    text: Any, *, separators: Any = None, dtype: Any = None, **options: Unpack[Options]
) -> Any:
    """The start positions of all suffixes of a text in lexicographic order.

    A suffix ends at the next separator or at the end of the text, which sorts before every symbol;
    equal suffixes, which separators make possible, are ordered by position.

    Parameters
    ----------
    text : bytes, str, array of uint8, pathlib.Path, or Sequences
        A path is that of a FASTA or FASTQ file, and a str is a text of ASCII characters.
    separators : array_like of integers, optional
        Ascending positions of record ends. Files and Sequences have their own.
    dtype : dtype, optional
        Of the result: uint32, int32, uint64 or int64. The default is uint32 for texts of up to
        2**32 - 2 symbols, else uint64, and int64 for tensors of PyTorch.
    **options
        See :class:`sortie.Options`.

    Returns
    -------
    array
        Of the library of `text`, and in the same place.

    Examples
    --------
    >>> import sortie
    >>> sortie.suffix_array(b"banana")
    array([5, 3, 1, 0, 4, 2], dtype=uint32)
    """
    return _suffix_array(Text(text, separators, options), dtype, settings_of(options))


def _suffix_array(operand: Text, dtype: Any, settings: Settings) -> Any:
    position_dtype = operand.position_dtype(dtype)
    return _derived(
        "sortie_suffix_array",
        operand,
        settings,
        POSITION_TYPES[position_dtype],
        dtype=position_dtype,
    )


def lcp(
    text: Any, suffixes: Any = None, *, separators: Any = None, **options: Unpack[Options]
) -> Any:
    """The longest common prefixes: entry i is the number of symbols that suffixes i - 1 and i of the
    suffix array have in common, and entry 0 is 0.

    Parameters
    ----------
    text, separators
        As for :func:`suffix_array`.
    suffixes : array, optional
        The suffix array of the text; it is computed if it is not given.
    **options
        See :class:`sortie.Options`.

    Examples
    --------
    >>> import sortie
    >>> sortie.lcp(b"banana")
    array([0, 1, 3, 0, 0, 2], dtype=uint32)
    """
    return _with_suffixes("sortie_lcp", text, suffixes, separators, options)


def bwt(
    text: Any, suffixes: Any = None, *, separators: Any = None, **options: Unpack[Options]
) -> Any:
    """The Burrows-Wheeler transform: entry i is the symbol before suffix i of the suffix array, and
    the last one of the text for the suffix at 0.

    Parameters
    ----------
    text, suffixes, separators
        As for :func:`lcp`.
    **options
        See :class:`sortie.Options`.

    Examples
    --------
    >>> import sortie
    >>> bytes(sortie.bwt(b"banana"))
    b'nnbaaa'
    """
    return _with_suffixes("sortie_bwt", text, suffixes, separators, options)


def _with_suffixes(
    function: str, text: Any, suffixes: Any, separators: Any, options: Mapping[str, Any]
) -> Any:
    settings = settings_of(options)
    operand = Text(text, separators, options)
    if suffixes is None:
        suffixes = _suffix_array(operand, None, settings)
    ranked = operand.suffixes("suffixes", suffixes)
    return _derived(
        function, operand, settings, ranked.type_code(POSITION_TYPES), ranked.pointer
    )


def _derived(
    function: str, text: Text, settings: Settings, *arguments: Any, dtype: Optional[Dtype] = None
) -> Any:
    """Calls a function that returns an array, which becomes one of the library of the text."""
    symbols = text.symbols
    handle = Handle("sortie_array_destroy", keep=getattr(symbols, "stream_object", None))
    view = text.view()
    call(function, settings, symbols.place, byref(view), *arguments, byref(handle.pointer))
    found = lib.sortie_array_get(handle.pointer)
    if dtype is None:
        dtype = ARRAY_DTYPES[found.type]
        if dtype.itemsize > 1 and not symbols.has_unsigned_types:
            dtype = np.dtype(f"int{8 * dtype.itemsize}")
    return symbols.adopt(handle, found.data, found.size, dtype)


class SuffixIndex:
    """A text with its suffix array, for searches.

    The text and the suffix array are in host memory; both are computed, and searched, on a GPU if the
    options say so.

    Parameters
    ----------
    text : bytes, str, array of uint8, pathlib.Path, or Sequences
        As for :func:`suffix_array`. A file is read with lower case raised.
    suffixes : array, optional
        The suffix array of the text, if the caller has it. It is not checked; see :meth:`check`.
    separators : array_like of integers, optional
        As for :func:`suffix_array`.
    **options
        See :class:`sortie.Options`; they hold for every call of the index.

    Attributes
    ----------
    text : numpy.ndarray of uint8
    suffixes : numpy.ndarray
    separators : numpy.ndarray of uint64
    sequences : Sequences or None
        The records, if the index was made of a file or of Sequences.

    Examples
    --------
    >>> import sortie
    >>> index = sortie.SuffixIndex(b"banana")
    >>> index
    <sortie.SuffixIndex: 6 symbols, uint32 positions>
    >>> index.count("ana")
    2
    >>> index.count(["an", "x"])
    array([2, 0])
    >>> index.locate("ana")
    array([3, 1], dtype=uint32)
    """

    def __init__(
        self,
        text: Any,
        *,
        suffixes: Any = None,
        separators: Any = None,
        **options: Unpack[Options],
    ) -> None:
        self._settings = settings_of(options)
        self._text = Text(text, separators, options)
        require_host(self._text, "an index")
        if suffixes is None:
            suffixes = _suffix_array(self._text, None, self._settings)
        self._suffixes: Array = self._text.suffixes("suffixes", suffixes)
        self.text: NumpyArray = np.asarray(self._text.symbols.result())
        self.suffixes: NumpyArray = np.asarray(self._suffixes.result())
        separators = self._text.separators
        self.separators: NumpyArray = np.asarray(separators.result() if separators else [], U64)
        self.sequences: Optional[Sequences] = self._text.sequences

    def _call(self, function: str, *arguments: Any) -> None:
        view = self._text.view()
        code = self._suffixes.type_code(POSITION_TYPES)
        call(
            function,
            self._settings,
            HOST,
            byref(view),
            code,
            self._suffixes.pointer,
            *arguments,
        )

    def ranges(self, patterns: Any) -> tuple[NumpyArray, NumpyArray]:
        """The entries of the suffix array whose suffixes begin with each pattern: begins and ends.

        Parameters
        ----------
        patterns
            As for :meth:`count`; one pattern is taken as a sequence of one.
        """
        return self._ranges(Patterns(patterns))

    def _ranges(self, wanted: Patterns) -> tuple[NumpyArray, NumpyArray]:
        begins = np.empty(len(wanted), np.int64)
        ends = np.empty(len(wanted), np.int64)
        view = wanted.view()
        self._call("sortie_find", byref(view), begins.ctypes.data, ends.ctypes.data)
        return begins, ends

    def count(self, patterns: Any) -> Any:
        """How often patterns occur.

        Parameters
        ----------
        patterns : bytes, str or array of uint8; or several
            Several are a list or a tuple, Sequences, or an array of two dimensions with a pattern in
            each row.

        Returns
        -------
        int, or numpy.ndarray of int64 for several patterns
        """
        wanted = Patterns(patterns)
        begins, ends = self._ranges(wanted)
        counts = ends - begins
        return int(counts[0]) if wanted.is_one else counts

    def locate(self, patterns: Any, most: Optional[int] = None) -> Any:
        """Where patterns occur.

        Parameters
        ----------
        patterns
            As for :meth:`count`.
        most : int, optional
            The number of positions of a pattern that are returned at most; the default is all.

        Returns
        -------
        positions : numpy.ndarray
            For one pattern, in the order of the suffix array.
        offsets, positions : pair of numpy.ndarray
            For several: those of pattern i are ``positions[offsets[i]:offsets[i + 1]]``.
        """
        limit = ALL_POSITIONS if most is None else checked_count("most", most, 2**64)
        wanted = Patterns(patterns)
        offsets = np.zeros(len(wanted) + 1, np.int64)
        handle = Handle("sortie_array_destroy")
        view = wanted.view()
        self._call(
            "sortie_locate", byref(view), limit, offsets.ctypes.data, byref(handle.pointer)
        )
        found = lib.sortie_array_get(handle.pointer)
        positions = host_array(handle, found.data, found.size, self._suffixes.dtype)
        return positions if wanted.is_one else (offsets, positions)

    def check(self) -> None:
        """Verifies the suffix array. Raises :class:`sortie.Error` if it is not that of the text."""
        self._call("sortie_check_suffix_array")

    def save(self, path: PathLike) -> None:
        """Writes text, suffix array and records to a file, which appears whole or not at all.

        The file is an uncompressed .npz archive of NumPy. It has its checksums: a damaged file is
        recognised by :meth:`load`.

        Examples
        --------
        >>> import os, sortie, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "banana.npz")
        >>> sortie.SuffixIndex(b"banana").save(path)
        >>> sortie.SuffixIndex.load(path).count("na")
        2
        """
        target = os.path.abspath(os.fspath(path))
        members = {
            "sortie_suffix_index": np.array(1),
            "text": self.text,
            "suffixes": self.suffixes,
            "separators": self.separators,
        }
        if self.sequences is not None:
            names = "\n".join(self.sequences.names).encode()
            members["names"] = np.frombuffer(names, U8)
            members["records"] = np.array(len(self.sequences))
        descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(target), suffix=".partial")
        try:
            with os.fdopen(descriptor, "wb") as file:
                os.fchmod(file.fileno(), 0o666 & ~_umask())  # as of any new file
                np.savez(file, **members)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise

    @classmethod
    def load(cls, path: PathLike, **options: Unpack[Options]) -> SuffixIndex:
        """Reads an index that :meth:`save` wrote.

        Raises
        ------
        ValueError
            The file is not an index, or it is damaged.
        """
        try:
            archive = np.load(path, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise ValueError("it is one array")
            with archive:
                members = {name: archive[name] for name in archive.files}
        except (zipfile.BadZipFile, EOFError, ValueError) as failure:
            raise ValueError(f"{os.fspath(path)} is not an index of Sortie: {failure}") from None
        missing = {"sortie_suffix_index", "text", "suffixes", "separators"} - members.keys()
        if missing:
            raise ValueError(f"{os.fspath(path)} is not an index of Sortie: no {sorted(missing)}")
        if members["sortie_suffix_index"] != 1:
            raise ValueError(
                f"{os.fspath(path)} is an index of version {members['sortie_suffix_index']};"
                " expected 1"
            )
        text: Any = members["text"]
        separators: Any = members["separators"]
        if "names" in members:
            count = int(members["records"])
            names = members["names"].tobytes().decode().split("\n") if count else []
            text = Sequences(text, separators, count, names)
            separators = None
        return cls(text, suffixes=members["suffixes"], separators=separators, **options)

    def __len__(self) -> int:
        return self._text.size

    def __repr__(self) -> str:
        records = f", {len(self.sequences)} records" if self.sequences is not None else ""
        return (
            f"<sortie.SuffixIndex: {len(self)} symbols{records}, {self._suffixes.dtype} positions>"
        )
