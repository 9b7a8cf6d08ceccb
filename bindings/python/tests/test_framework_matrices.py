# SPDX-License-Identifier: Apache-2.0
"""Products of matrices of PyTorch and CuPy against SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from frameworks import library

import sortie

scipy_sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")


@pytest.fixture
def cupy() -> Any:
    return library("cupy").module


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_torch_products(rng, device, index_dtype, dtype):
    xp = library(f"torch-{device}")
    torch = xp.module

    def make(rows, cols):
        seed = int(rng.integers(99))
        host = scipy_sparse.random(rows, cols, 0.1, "csr", random_state=seed).astype(dtype)
        arrays = (host.indptr.astype(index_dtype), host.indices.astype(index_dtype), host.data)
        return host, torch.sparse_csr_tensor(*map(xp.make, arrays), size=(rows, cols))

    (A, first), (B, second) = make(40, 60), make(60, 30)
    C = sortie.spgemm(first, second)
    assert C.layout == torch.sparse_csr and C.device.type == device
    assert xp.read(C.crow_indices()).dtype == xp.read(C.col_indices()).dtype == index_dtype
    assert C.dtype == first.dtype
    expected = (A @ B).toarray()
    np.testing.assert_allclose(xp.read(C.to_dense()), expected, rtol=1e-5)
    plan = sortie.SpgemmPlan(first, second)
    np.testing.assert_allclose(xp.read(plan.multiply().to_dense()), expected, rtol=1e-5)
    D = plan.multiply(2 * first.values())
    assert plan.multiply(out=C) is C
    np.testing.assert_allclose(xp.read(C.values()) * 2, xp.read(D.values()), rtol=1e-5)
    with pytest.raises(TypeError, match="B is a matrix of SciPy"):
        sortie.spgemm(first, B)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_cupy_products(cupy, rng, form, dtype):
    cupyx_sparse = pytest.importorskip("cupyx.scipy.sparse")
    host = scipy_sparse.random(50, 50, 0.1, "csr", random_state=1).astype(dtype)
    A = cupyx_sparse.csr_matrix(host).asformat(form)
    C = sortie.spgemm(A)
    assert C.format == form and C.dtype == dtype
    np.testing.assert_allclose(C.toarray().get(), (host @ host).toarray(), rtol=1e-5)
    if form == "coo":
        return
    assert C.has_canonical_format and C.indices.dtype == C.indptr.dtype == np.int32
    plan = sortie.SpgemmPlan(A)
    D = plan.multiply(2 * A.data)
    np.testing.assert_allclose(D.toarray().get(), 4 * (host @ host).toarray(), rtol=1e-5)
    with pytest.raises(ValueError, match="drop_zeros is for matrices in host memory"):
        sortie.spgemm(A, drop_zeros=True)
    with cupy.cuda.Stream(non_blocking=True), pytest.raises(ValueError, match="current stream"):
        plan.multiply()


def test_a_cupy_matrix_that_is_not_canonical(cupy):
    cupyx_sparse = pytest.importorskip("cupyx.scipy.sparse")
    A = cupyx_sparse.csr_matrix(
        (cupy.array([1.0, 2, 3, 4]), cupy.array([2, 0, 2, 1]), cupy.array([0, 3, 3, 4])), shape=(3, 3)
    )
    C = sortie.spgemm(A)
    np.testing.assert_array_equal(
        C.toarray().get(), np.linalg.matrix_power(np.array([[2.0, 0, 4], [0, 0, 0], [0, 4, 0]]), 2)
    )
    assert A.nnz == 4


def test_empty_cupy_products(cupy):
    cupyx_sparse = pytest.importorskip("cupyx.scipy.sparse")
    A = cupyx_sparse.csr_matrix((3, 3), dtype=np.float64)
    assert sortie.spgemm(A).nnz == 0
