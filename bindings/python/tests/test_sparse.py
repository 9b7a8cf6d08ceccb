# SPDX-License-Identifier: Apache-2.0
"""Products of SciPy's matrices against SciPy's own."""

from __future__ import annotations

import numpy as np
import pytest

import sortie
from sortie import _library, sparse

scipy_sparse = pytest.importorskip("scipy.sparse")

FORMATS = ["csr", "csc", "coo"]
CLASSES = ["matrix", "array"]
DTYPES = [np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.complex128)]


def make(rng, rows, cols, density=0.1, dtype=np.float64, kind="csr_matrix"):
    """A random matrix of small integers, so that products are exact."""
    dense = rng.integers(1, 9, (rows, cols)) * (rng.random((rows, cols)) < density)
    dense = dense.astype(dtype)
    if np.dtype(dtype).kind == "c":
        dense *= 1 + 2j
    return getattr(scipy_sparse, kind)(dense)


def check(C, expected, kind, index_dtype=np.int32):
    assert type(C) is getattr(scipy_sparse, kind)
    assert C.shape == expected.shape
    assert C.has_canonical_format
    if C.format == "coo":
        assert C.row.dtype == C.col.dtype == index_dtype
    else:
        assert C.has_sorted_indices
        assert C.indices.dtype == C.indptr.dtype == index_dtype
        C.check_format()
        for begin, end in zip(C.indptr[:-1], C.indptr[1:]):
            assert np.all(np.diff(C.indices[begin:end]) > 0)
    np.testing.assert_array_equal(C.toarray(), expected)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_products_and_squares(rng, form, cls, dtype):
    kind = f"{form}_{cls}"
    A = make(rng, 40, 60, dtype=dtype, kind=kind)
    B = make(rng, 60, 30, dtype=dtype, kind=kind)
    C = sortie.spgemm(A, B)
    assert C.dtype == dtype
    check(C, A.toarray() @ B.toarray(), kind)
    S = make(rng, 50, 50, dtype=dtype, kind=kind)
    check(sortie.spgemm(S), S.toarray() @ S.toarray(), kind)
    check(sortie.spgemm(S, S), S.toarray() @ S.toarray(), kind)


@pytest.mark.parametrize("first", FORMATS)
@pytest.mark.parametrize("second", FORMATS)
def test_the_format_of_the_first_operand_holds(rng, first, second):
    A = make(rng, 20, 30, kind=f"{first}_matrix")
    B = make(rng, 30, 20, kind=f"{second}_matrix", dtype=np.float32)
    C = sortie.spgemm(A, B)
    assert C.dtype == np.float64
    check(C, A.toarray() @ B.toarray(), f"{first}_matrix")


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_unsorted_and_duplicate_indices_are_accepted(form):
    kind = getattr(scipy_sparse, f"{form}_matrix")
    A = kind((np.array([1.0, 2, 3, 4]), np.array([2, 0, 2, 1]), np.array([0, 3, 3, 4])), shape=(3, 3))
    before = A.data.copy(), A.indices.copy()
    check(sortie.spgemm(A), A.toarray() @ A.toarray(), f"{form}_matrix")
    np.testing.assert_array_equal(A.data, before[0])
    np.testing.assert_array_equal(A.indices, before[1])


def test_arrays_that_are_longer_than_the_matrix(rng):
    A = make(rng, 10, 10)
    A.data = np.append(A.data, [7.0, 7.0])
    A.indices = np.append(A.indices, np.array([99, 99], np.int32))
    check(sortie.spgemm(A), A.toarray() @ A.toarray(), "csr_matrix")


def test_wide_indices_become_int32_where_they_fit(rng):
    A = make(rng, 30, 30)
    A.indices = A.indices.astype(np.int64)
    A.indptr = A.indptr.astype(np.int64)
    check(sortie.spgemm(A), A.toarray() @ A.toarray(), "csr_matrix")


def test_other_integers_as_indices(rng):
    A = make(rng, 30, 30)
    expected = A.toarray() @ A.toarray()
    A.indices = A.indices.astype(np.uint16)
    A.indptr = A.indptr.astype(np.uint32)
    check(sortie.spgemm(A), expected, "csr_matrix")


def test_operands_with_different_index_types(rng):
    A, B = make(rng, 30, 30), make(rng, 30, 30)
    expected = A.toarray() @ B.toarray()
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    check(sortie.spgemm(A, B), expected, "csr_matrix")
    B, A = A, B
    check(sortie.spgemm(A, B), A.toarray() @ B.toarray(), "csr_matrix")


def test_columns_beyond_int32():
    wide = scipy_sparse.csr_matrix(
        (np.array([2.0]), np.array([2**40 - 1]), np.array([0, 1])), shape=(1, 2**40)
    )
    C = sortie.spgemm(scipy_sparse.csr_matrix([[3.0]]), wide)
    assert C.shape == (1, 2**40)
    assert C.indices.dtype == np.int64
    assert C.indices.tolist() == [2**40 - 1] and C.data.tolist() == [6.0]


def test_zeros_are_kept_unless_they_are_dropped():
    A = scipy_sparse.csr_matrix(np.array([[1.0, 1.0]]))
    B = scipy_sparse.csr_matrix(np.array([[1.0, 2.0], [-1.0, 3.0]]))
    assert sortie.spgemm(A, B).nnz == 2
    C = sortie.spgemm(A, B, drop_zeros=True)
    assert C.indices.tolist() == [1] and C.data.tolist() == [5.0]


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_results_are_over_the_memory_of_the_library(rng, monkeypatch, form):
    views = []
    get = _library.lib.sortie_csr_get

    class Library:
        def __getattr__(self, name):
            return getattr(_library.lib, name)

        def sortie_csr_get(self, pointer):
            views.append(get(pointer))
            return views[-1]

    monkeypatch.setattr(sparse, "lib", Library())
    A = make(rng, 50, 50, kind=f"{form}_matrix")
    C = sortie.spgemm(A)
    (view,) = views
    assert C.data.ctypes.data == view.values
    assert C.indices.ctypes.data == view.col_idx
    C.data *= 2  # it is writable
    np.testing.assert_array_equal(C.toarray(), 2 * (A.toarray() @ A.toarray()))


# --- Refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["bsr", "dia", "lil", "dok"])
def test_other_formats_are_refused(rng, form):
    A = make(rng, 4, 4).asformat(form)
    with pytest.raises(TypeError, match=rf"A is a {form} matrix; expected csr, csc or coo. .*A.tocsr"):
        sortie.spgemm(A)
    with pytest.raises(TypeError, match=f"B is a {form} matrix"):
        sortie.spgemm(A.tocsr(), A)


@pytest.mark.parametrize("dtype", [np.int64, np.bool_, np.complex64, np.int8])
def test_other_values_are_refused(dtype):
    A = scipy_sparse.csr_matrix(np.eye(3, dtype=dtype))
    name = np.dtype(dtype).name
    message = f"values of A has dtype {name}; expected one of complex128, float32, float64"
    with pytest.raises(TypeError, match=message):
        sortie.spgemm(A)


def test_what_is_no_sparse_matrix_is_refused(rng):
    with pytest.raises(TypeError, match="A is of type numpy.ndarray; expected a sparse matrix"):
        sortie.spgemm(np.eye(3))
    with pytest.raises(TypeError, match="B is of type builtins.list"):
        sortie.spgemm(make(rng, 3, 3), [[1.0]])


def test_shapes_have_to_conform(rng):
    with pytest.raises(ValueError, match=r"A has shape \(3, 4\) and B has shape \(3, 4\)"):
        sortie.spgemm(make(rng, 3, 4), make(rng, 3, 4))
    with pytest.raises(ValueError, match=r"A has shape \(3, 4\) and A has shape \(3, 4\)"):
        sortie.spgemm(make(rng, 3, 4))


def test_invalid_indices_are_refused(rng):
    A = make(rng, 5, 5, density=1.0)
    A.indices[3] = 5
    with pytest.raises(ValueError, match="column 5"):
        sortie.spgemm(A)
    A = make(rng, 5, 5, density=1.0)
    A.indptr, A.indices = A.indptr.astype(np.int64), A.indices.astype(np.int64)
    A.indices[3] += 2**32  # not to be taken for a narrower one
    with pytest.raises(ValueError, match="column 4294967299"):
        sortie.spgemm(A)
    A = make(rng, 5, 5, density=1.0)
    A.indptr[2] = 0
    with pytest.raises(ValueError, match="offset"):
        sortie.spgemm(A)
    A = make(rng, 5, 5, density=1.0)
    A.data = A.data[:-1]
    with pytest.raises(ValueError, match="as many values as indices"):
        sortie.spgemm(A)


# --- Plans ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_plan(rng, form, dtype):
    kind = f"{form}_array"
    A = make(rng, 30, 40, dtype=dtype, kind=kind)
    B = make(rng, 40, 20, dtype=dtype, kind=kind)
    plan = sortie.SpgemmPlan(A, B)
    expected = sortie.spgemm(A, B)
    assert (plan.shape, plan.nnz, plan.dtype) == (expected.shape, expected.nnz, dtype)
    check(plan.multiply(), expected.toarray(), kind)
    C = plan.multiply(2 * A.data, 3 * B)
    check(C, 6 * expected.toarray(), kind)
    assert plan.multiply(A, out=C) is C
    check(C, expected.toarray(), kind)
    assert repr(plan) == (
        f"SpgemmPlan({form} of SciPy, shape=(30, 20), nnz={expected.nnz}, dtype={dtype})"
    )


def test_plan_of_a_square(rng):
    A = make(rng, 30, 30)
    plan = sortie.SpgemmPlan(A)
    first, second = plan.multiply(), plan.multiply(2 * A.data)
    check(second, 4 * (A @ A).toarray(), "csr_matrix")
    assert not np.shares_memory(first.indices, second.indices)
    with pytest.raises(ValueError, match="expected no B"):
        plan.multiply(A, A)


def test_plan_keeps_what_it_needs(rng):
    A = make(rng, 30, 30)
    values, expected = A.data.copy(), (A @ A).toarray()
    plan = sortie.SpgemmPlan(A.copy())
    np.testing.assert_array_equal(plan.multiply(values).toarray(), expected)


def test_plan_of_nothing():
    plan = sortie.SpgemmPlan(scipy_sparse.csr_matrix((0, 3)), scipy_sparse.csr_matrix((3, 0)))
    assert plan.multiply().shape == (0, 0)


def test_plan_refuses_what_it_was_not_made_for(rng):
    A = make(rng, 30, 30)
    plan = sortie.SpgemmPlan(A)
    with pytest.raises(ValueError, match=f"A has 3 values; the plan was made for {A.nnz}"):
        plan.multiply(np.ones(3))
    with pytest.raises(TypeError, match="A has dtype int64"):
        plan.multiply(np.ones(A.nnz, np.int64))
    with pytest.raises(TypeError, match="A has dtype complex128; .* values of float64"):
        plan.multiply(np.ones(A.nnz, np.complex128))
    with pytest.raises(ValueError, match="A is a csc matrix of shape"):
        plan.multiply(A.tocsc())
    with pytest.raises(ValueError, match="out is a csr matrix .* with 0 values .* of this plan"):
        plan.multiply(out=scipy_sparse.csr_matrix((30, 30)))
    with pytest.raises(ValueError, match="out is a coo matrix"):
        plan.multiply(out=plan.multiply().tocoo())
    with pytest.raises(TypeError, match="A is a coo matrix"):
        sortie.SpgemmPlan(A.tocoo())
    unsorted = scipy_sparse.csr_matrix((np.ones(2), np.array([1, 0]), np.array([0, 2, 2])))
    with pytest.raises(ValueError, match="A.sum_duplicates"):
        sortie.SpgemmPlan(unsorted)
