# SPDX-License-Identifier: Apache-2.0
"""Products of sparse matrices."""

from __future__ import annotations

from ctypes import byref
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _library
from ._arrays import ARRAY_DTYPES, POSITION_TYPES, Array, Dtype, array
from ._context import Place, call
from ._library import lib
from ._matrices import INT32, INT64, VALUE_TYPES, Matrix, fits_int32, matrix, same_format
from ._memory import Handle
from ._options import Options, Settings, settings_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


def spgemm(
    A: Any, B: Any = None, *, drop_zeros: bool = False, **options: Unpack[Options]
) -> Any:
    """The product of two sparse matrices, C = A B.

    Parameters
    ----------
    A : sparse matrix
        A csr, csc or coo array or matrix of SciPy or CuPy, or a tensor of PyTorch of layout
        sparse_csr, with values of type float32, float64 or complex128. On the host, indices need not
        be sorted, and duplicates are added up. On a GPU, a matrix of CuPy that is not canonical is
        copied and made so.
    B : sparse matrix, optional
        The default is A. It is converted to the format of A; values are converted to the wider type
        of the two.
    drop_zeros : bool
        Leaves out entries that are zero by cancellation, in host memory only.
    **options
        See :class:`sortie.Options`.

    Returns
    -------
    sparse matrix
        Of the library and the format of A. Indices are sorted, without duplicates, and of type int32
        where it is wide enough. A tensor of PyTorch has the index type of A. The arrays of values and
        of indices are those of the library, without a copy.

    Raises
    ------
    TypeError
        Another format, such as bsr, or another type of values.
    ValueError
        Shapes do not conform, or an index is out of range.
    MemoryError
        The message has the bytes wanted and free.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> import sortie
    >>> A = scipy.sparse.csr_matrix(np.array([[0.0, 2.0], [3.0, 0.0]]))
    >>> sortie.spgemm(A).toarray()
    array([[6., 0.],
           [0., 6.]])
    """
    settings = settings_of(options)
    first, second = _operands(A, B)
    if drop_zeros and first.place.on_device:
        raise ValueError(
            "drop_zeros is for matrices in host memory; on a GPU, call eliminate_zeros() of the result"
        )
    left, right, index_dtype = _for_library(first, second)
    product = Handle("sortie_csr_destroy", keep=_stream(first))
    left_view = byref(left.view())
    call(
        "sortie_spgemm",
        settings,
        left.place,
        left_view,
        left_view if right is left else byref(right.view()),
        _library.DROP_ZEROS if drop_zeros else 0,
        byref(product.pointer),
    )
    shape = (first.shape[0], second.shape[1])
    return first.build(*_arrays_of(product, settings, left, index_dtype), shape)


def _operands(A: Any, B: Any) -> tuple[Matrix, Matrix]:
    first = matrix("A", A)
    second = first if B is None or B is A else same_format("B", B, first)
    if first.shape[1] != second.shape[0]:
        name = "A" if second is first else "B"
        raise ValueError(
            f"A has shape {first.shape} and {name} has shape {second.shape}; expected as many rows of"
            f" {name} as columns of A"
        )
    return first, second


def _for_library(first: Matrix, second: Matrix) -> tuple[Matrix, Matrix, Dtype]:
    """The operands in csr form and with equal types, and the index type of the result.

    C = A B of csc operands is computed as C^T = B^T A^T, whose csr forms are the given arrays.
    """
    narrow = fits_int32(*first.extents, *second.extents)
    value_dtype = first.values.dtype
    if second.values.dtype != value_dtype:
        value_dtype = np.result_type(value_dtype, second.values.dtype)
    if first.place.on_device:
        # The library would copy 64-bit indices, and does not check any.
        wide_offsets = not fits_int32(first.nnz, second.nnz)
        wide_indices = False
    else:
        wide_offsets = first.offsets.dtype == INT64 or second.offsets.dtype == INT64
        wide_indices = first.indices.dtype == INT64 or second.indices.dtype == INT64
    # In host memory, indices are not narrowed: the library has to see one that is out of range.
    types = (
        INT64 if wide_offsets else INT32,
        INT64 if wide_indices or not narrow else INT32,
        value_dtype,
    )
    index_dtype = INT32 if narrow else INT64
    if first.keeps_index_dtype and first.offsets.dtype == INT64:
        index_dtype = INT64
    a = first.cast(*types)
    b = a if second is first else second.cast(*types)
    return (b, a, index_dtype) if first.format == "csc" else (a, b, index_dtype)


def _stream(operand: Matrix) -> object:
    """What must exist as long as device memory of a result does."""
    return getattr(operand.values, "stream_object", None)


def _arrays_of(
    product: Handle, settings: Settings, like: Matrix, index_dtype: Dtype
) -> tuple[Any, Any, Any]:
    """Offsets, indices and values of a product for the caller: those of the library, but for indices of
    another type, which the library converts."""
    view = lib.sortie_csr_get(product.pointer)
    if not fits_int32(view.nnz):
        index_dtype = INT64
    values = like.values
    column_dtype = ARRAY_DTYPES[view.col_idx_type]
    offsets = values.empty(view.rows + 1, index_dtype) if index_dtype != INT64 else None
    indices = values.empty(view.nnz, index_dtype) if index_dtype != column_dtype else None
    if offsets or indices:
        call(
            "sortie_csr_copy",
            settings,
            values.place,
            product.pointer,
            POSITION_TYPES[index_dtype] if offsets else _library.I64,
            offsets.pointer if offsets else None,
            POSITION_TYPES[index_dtype] if indices else _library.I64,
            indices.pointer if indices else None,
            None,
        )
    return (
        offsets.result() if offsets else values.adopt(product, view.row_ptr, view.rows + 1, INT64),
        indices.result()
        if indices
        else values.adopt(product, view.col_idx, view.nnz, column_dtype),
        values.adopt(product, view.values, view.nnz, values.dtype),
    )


def _adopt(
    like: Matrix, owner: Handle, pointer: int, size: int, found: Dtype, wanted: Dtype
) -> Any:
    """An array of a result for the caller, converted if it has another type."""
    adopted = like.values.adopt(owner, pointer, size, found)
    return adopted if found == wanted else array("result", adopted).astype(wanted).result()


class SpgemmPlan:
    """A product for operands whose values change while their structure stays.

    The structure of C is computed once. A plan is used by one thread at a time.

    Parameters
    ----------
    A, B : sparse matrix
        As for :func:`spgemm`, csr or csc, with sorted indices and without duplicates. The default of
        B is A. Matrices on a GPU must not change their structure as long as the plan is used, and
        their library's current stream must be the same in every call.
    **options
        See :class:`sortie.Options`; they hold for every call of :meth:`multiply`.

    Attributes
    ----------
    shape : tuple of int
        Of C.
    nnz : int
        Number of entries of C.
    dtype : numpy.dtype
        Of the values of C.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> import sortie
    >>> A = scipy.sparse.csr_matrix(np.array([[0.0, 2.0], [3.0, 0.0]]))
    >>> plan = sortie.SpgemmPlan(A)
    >>> plan
    SpgemmPlan(csr of SciPy, shape=(2, 2), nnz=2, dtype=float64)
    >>> plan.multiply(np.array([1.0, 5.0])).toarray()
    array([[5., 0.],
           [0., 5.]])
    """

    def __init__(self, A: Any, B: Any = None, **options: Unpack[Options]) -> None:
        self._settings = settings_of(options)
        first, second = _operands(A, B)
        for name, operand, given in (("A", first, A), ("B", second, A if B is None else B)):
            if getattr(given, "format", "csr") == "coo":
                raise TypeError(
                    f"{name} is a coo matrix, whose values a product does not see in their order;"
                    " expected csr or csc"
                )
            if not operand.is_canonical():
                raise ValueError(
                    f"{name} has indices that do not ascend, or duplicates; expected a matrix in"
                    f" canonical format. Call {name}.sum_duplicates() first"
                )
        left, right, index_dtype = _for_library(first, second)
        self._squares = second is first
        self._transposed = first.format == "csc"
        self._first = first
        self._second = second
        self._library_operands = (left, right)  # device memory that the plan refers to
        self._handle = Handle("sortie_plan_destroy", keep=_stream(first))
        call(
            "sortie_plan_create",
            self._settings,
            first.place,
            byref(left.view()),
            byref(right.view()),
            byref(self._handle.pointer),
        )
        view = lib.sortie_plan_get(self._handle.pointer)
        self.shape = (first.shape[0], second.shape[1])
        self.nnz = int(view.nnz)
        self.dtype = left.values.dtype
        if not fits_int32(self.nnz):
            index_dtype = INT64
        own = self._handle
        self._offsets = array(
            "offsets", _adopt(first, own, view.row_ptr, view.rows + 1, INT64, index_dtype)
        )
        self._indices = array(
            "indices",
            _adopt(
                first, own, view.col_idx, self.nnz, ARRAY_DTYPES[view.col_idx_type], index_dtype
            ),
        )

    def multiply(self, A: Any = None, B: Any = None, *, out: Any = None) -> Any:
        """C for new values of A and B.

        Parameters
        ----------
        A, B : array or sparse matrix, optional
            The values in the order of those of the operands that the plan was made for, or a matrix
            of the same structure, which is not checked. The default is the current values of
            the operands. If the plan is for A A, there is no B.
        out : sparse matrix, optional
            A result of this plan, whose values are overwritten.

        Returns
        -------
        sparse matrix
            As by :func:`spgemm`; `out` if it is given.
        """
        if self._squares and B is not None:
            raise ValueError("the plan was made for A A; expected no B")
        a = self._values("A", A, self._first)
        b = a if self._squares else self._values("B", B, self._second)
        left, right = (b, a) if self._transposed else (a, b)
        if out is None:
            values = self._first.values.empty(self.nnz, self.dtype)
        else:
            values = self._output(out)
        call(
            "sortie_plan_multiply",
            self._settings,
            self._place(values),
            self._handle.pointer,
            left.pointer,
            right.pointer,
            values.pointer,
        )
        if out is not None:
            return out
        return self._first.build(
            self._offsets.copy().result(), self._indices.copy().result(), values.result(), self.shape
        )

    def _values(self, name: str, operand: Any, planned: Matrix) -> Array:
        if operand is None:
            return planned.values.astype(self.dtype)
        if _is_sparse(operand):
            given = matrix(name, operand)
            if given.format != planned.format or given.shape != planned.shape:
                raise ValueError(
                    f"{name} is a {given.format} matrix of shape {given.shape}; the plan was made for"
                    f" {planned.format} of shape {planned.shape}"
                )
            values = given.values
        else:
            values = planned.values.companion(name, operand)
        values.require_1d()
        values.type_code(VALUE_TYPES)
        if values.size != planned.nnz:
            raise ValueError(
                f"{name} has {values.size} values; the plan was made for {planned.nnz}"
            )
        if np.result_type(values.dtype, self.dtype) != self.dtype:
            raise TypeError(
                f"{name} has dtype {values.dtype}; the plan was made for values of {self.dtype}"
            )
        return values.astype(self.dtype)

    def _output(self, out: Any) -> Array:
        target = matrix("out", out)
        found = (getattr(out, "format", "csr"), target.shape, target.nnz, target.values.dtype)
        expected = (self._first.format, self.shape, self.nnz, self.dtype)
        if found != expected:
            raise ValueError(
                "out is a {} matrix of shape {} with {} values of dtype {}; expected a result of this"
                " plan: {}, {}, {}, {}".format(*found, *expected)
            )
        target.values.require_output()
        return target.values

    def _place(self, values: Array) -> Place:
        place = values.current_place()
        if place != self._first.place:
            raise ValueError(
                f"the plan was made for {self._first.place}, and this call is for {place};"
                " expected the same current stream in every call"
            )
        return place

    def __repr__(self) -> str:
        return (
            f"SpgemmPlan({self._first.format} of {self._first.library}, shape={self.shape},"
            f" nnz={self.nnz}, dtype={self.dtype})"
        )


def _is_sparse(operand: Any) -> bool:
    return hasattr(operand, "format") or "sparse" in str(getattr(operand, "layout", ""))
