# SPDX-License-Identifier: Apache-2.0
"""Operands and results of sparse products: matrices of SciPy, CuPy and PyTorch."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from . import _library
from ._arrays import POSITION_TYPES, Array, Dtype, array, type_code
from ._context import Place

VALUE_TYPES: dict[Dtype, int] = {
    np.dtype(np.float32): _library.F32,
    np.dtype(np.float64): _library.F64,
    np.dtype(np.complex128): _library.C128,
}
"""What the values of matrices may be."""

INT32: Dtype = np.dtype(np.int32)
INT64: Dtype = np.dtype(np.int64)


INDEX_TYPES: dict[Dtype, int] = {
    **POSITION_TYPES,
    **{np.dtype(name): -1 for name in ("int8", "uint8", "int16", "uint16")},
}
"""What offsets and indices may be. Those that are not int32 or int64 are converted to int64 before the
library sees them."""


def fits_int32(*numbers: int) -> bool:
    return max(numbers) < 2**31


# Not frozen: that makes the constructor three times as slow.
@dataclass
class Matrix:
    """A matrix in compressed form: by rows (csr), or by columns (csc).

    The library knows compressed rows only. A csc matrix is the csr form of its transpose, and its
    `view` describes that.
    """

    argument: str
    library: str
    format: str
    """ "csr" or "csc" """
    shape: tuple[int, int]
    offsets: Array
    indices: Array
    values: Array
    keeps_index_dtype: bool
    """Whether results have the index type of the operand; else they have int32 where it fits."""
    build: Callable[[Any, Any, Any, tuple[int, int]], Any]
    """Makes a matrix of the caller's kind of offsets, indices, values and the shape."""
    is_canonical: Callable[[], bool]
    """Whether indices ascend in every row or column, without duplicates."""

    @property
    def place(self) -> Place:
        return self.values.place

    @property
    def nnz(self) -> int:
        return self.indices.size

    @property
    def extents(self) -> tuple[int, int]:
        """Rows and columns of the csr form: the shape, or that of the transpose."""
        rows, cols = self.shape
        return (cols, rows) if self.format == "csc" else (rows, cols)

    def cast(self, offset_dtype: Dtype, index_dtype: Dtype, value_dtype: Dtype) -> Matrix:
        """The matrix with the given types; arrays that have theirs are not copied."""
        offsets = self.offsets.astype(offset_dtype)
        indices = self.indices.astype(index_dtype)
        values = self.values.astype(value_dtype)
        if offsets is self.offsets and indices is self.indices and values is self.values:
            return self
        return Matrix(
            self.argument,
            self.library,
            self.format,
            self.shape,
            offsets,
            indices,
            values,
            self.keeps_index_dtype,
            self.build,
            self.is_canonical,
        )

    def view(self) -> _library.CsrView:
        """The csr form for the library. The matrix must exist as long as the view is used."""
        rows, cols = self.extents
        return _library.CsrView(
            rows,
            cols,
            self.nnz,
            self.offsets.type_code(POSITION_TYPES),
            self.indices.type_code(POSITION_TYPES),
            self.values.type_code(VALUE_TYPES),
            self.place.memory,
            self.offsets.pointer,
            self.indices.pointer,
            self.values.pointer,
        )


def matrix(argument: str, operand: Any) -> Matrix:
    """Describes an operand.

    Raises
    ------
    TypeError
        It is not a sparse matrix of a known library, format and type of values.
    """
    scipy_sparse = sys.modules.get("scipy.sparse")
    if scipy_sparse is not None and scipy_sparse.issparse(operand):
        return _scipy_matrix(argument, operand)
    cupyx_sparse = sys.modules.get("cupyx.scipy.sparse")
    if cupyx_sparse is not None and cupyx_sparse.issparse(operand):
        return _cupyx_matrix(argument, operand)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(operand, torch.Tensor):
        return _torch_matrix(argument, operand)
    raise TypeError(
        f"{argument} is of type {type(operand).__module__}.{type(operand).__qualname__}; expected a"
        " sparse matrix: csr, csc or coo of scipy.sparse or cupyx.scipy.sparse, or a tensor of"
        " layout torch.sparse_csr"
    )


def same_format(argument: str, operand: Any, like: Matrix) -> Matrix:
    """Describes the second operand of a product, converted to the format of the first one."""
    second = matrix(argument, operand)
    if second.library != like.library or second.place[:2] != like.place[:2]:
        raise TypeError(
            f"{argument} is a matrix of {second.library} {_where(second)}, and {like.argument} one of"
            f" {like.library} {_where(like)}; expected both in the same place"
        )
    if second.format != like.format:
        return matrix(argument, operand.asformat(like.format))
    return second


def _where(operand: Matrix) -> str:
    return f"on GPU {operand.place.device}" if operand.place.on_device else "in host memory"


def _indices(argument: str, operand: Any, values: Array) -> Array:
    """An array of offsets or indices in the place of the values, as int32 or int64, the types of the
    library."""
    indices = values.companion(argument, operand)
    indices.type_code(INDEX_TYPES)
    return indices if indices.dtype in (INT32, INT64) else indices.astype(INT64)


def _check_sizes(operand: Matrix) -> None:
    """Refuses arrays that the library would read beyond their ends."""
    rows, _ = operand.extents
    if operand.offsets.shape != (rows + 1,) or operand.indices.shape != operand.values.shape:
        raise ValueError(
            f"{operand.argument} has {operand.offsets.shape} offsets, {operand.indices.shape} indices"
            f" and {operand.values.shape} values; expected ({rows + 1},) offsets, and as many values"
            " as indices"
        )


def _check_format(argument: str, operand: Any) -> Any:
    """An operand in compressed form; a TypeError for formats that would have to be expanded."""
    if operand.format in ("csr", "csc"):
        return operand
    if operand.format == "coo":
        return operand.tocsr()
    raise TypeError(
        f"{argument} is a {operand.format} matrix; expected csr, csc or coo. Convert it with"
        f" {argument}.tocsr()"
    )


def _scipy_matrix(argument: str, operand: Any) -> Matrix:
    type_code(f"values of {argument}", operand.dtype, VALUE_TYPES)
    compressed = _check_format(argument, operand)
    nnz = int(compressed.indptr[-1])  # the other arrays may be longer

    def build(offsets: Any, indices: Any, values: Any, shape: tuple[int, int]) -> Any:
        product = type(compressed)((values, indices, offsets), shape=shape, copy=False)
        product.has_sorted_indices = True
        product.has_canonical_format = True
        if operand.format == "coo":
            product = product.tocoo(copy=False)
            product.has_canonical_format = True
        return product

    values = array(f"{argument}.data", compressed.data[:nnz])
    described = Matrix(
        argument,
        "SciPy",
        compressed.format,
        compressed.shape,
        _indices(f"{argument}.indptr", compressed.indptr, values),
        _indices(f"{argument}.indices", compressed.indices[:nnz], values),
        values,
        False,
        build,
        lambda: bool(compressed.has_canonical_format),
    )
    _check_sizes(described)
    return described


def _cupyx_matrix(argument: str, operand: Any) -> Matrix:
    type_code(f"values of {argument}", np.dtype(operand.dtype), VALUE_TYPES)
    compressed = _check_format(argument, operand)
    if not compressed.has_canonical_format:
        if compressed is operand:
            compressed = operand.copy()
        compressed.sum_duplicates()  # which sorts, too

    def build(offsets: Any, indices: Any, values: Any, shape: tuple[int, int]) -> Any:
        kind = type(compressed)
        if hasattr(kind, "_from_parts"):
            # The constructor waits for the GPU to look at the indices, which is half of a small
            # product's time.
            product = kind._from_parts(values, indices, offsets, shape, has_canonical_format=True)
        else:
            product = kind((values, indices, offsets), shape=shape)
            product.has_sorted_indices = True
            product.has_canonical_format = True
        return product.tocoo() if operand.format == "coo" else product

    values = array(f"{argument}.data", compressed.data)
    described = Matrix(
        argument,
        "CuPy",
        compressed.format,
        (compressed.shape[0], compressed.shape[1]),
        _indices(f"{argument}.indptr", compressed.indptr, values),
        _indices(f"{argument}.indices", compressed.indices, values),
        values,
        False,
        build,
        lambda: compressed is operand,
    )
    _check_sizes(described)
    return described


def _torch_matrix(argument: str, operand: Any) -> Matrix:
    import torch

    if operand.layout != torch.sparse_csr:
        raise TypeError(
            f"{argument} is a tensor of layout {operand.layout}; expected torch.sparse_csr. Convert"
            f" it with {argument}.to_sparse_csr()"
        )
    values = array(f"values of {argument}", operand.values())
    values.type_code(VALUE_TYPES)
    if operand.dim() != 2 or len(values.shape) != 1:
        raise ValueError(
            f"{argument} has shape {tuple(operand.shape)} and values of shape {values.shape}; expected"
            " one matrix, not a batch, with scalar values"
        )

    def build(offsets: Any, indices: Any, values: Any, shape: tuple[int, int]) -> Any:
        return torch.sparse_csr_tensor(offsets, indices, values, size=shape)

    described = Matrix(
        argument,
        "PyTorch",
        "csr",
        (operand.shape[0], operand.shape[1]),
        _indices(f"crow_indices of {argument}", operand.crow_indices(), values),
        _indices(f"col_indices of {argument}", operand.col_indices(), values),
        values,
        True,
        build,
        lambda: True,  # which PyTorch requires of every tensor of this layout
    )
    _check_sizes(described)
    return described
