# SPDX-License-Identifier: Apache-2.0
"""check_aggregation_amg.py PROGRAM MATRIX MOST_ITERATIONS

Runs examples/aggregation_amg and compares what it writes with a plain set-up by NumPy and SciPy.

Each level is set up here from the matrix that the program wrote for it, so that rounding in one level
does not decide about the aggregates of the next one. MATRIX is as for the program, or graph:FILE: the
Laplacian of the graph in a Matrix Market file, plus 0.01 on the diagonal.
"""

import itertools
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.io
import scipy.sparse

STRENGTH = 0.01
COARSEST_ROWS = 50
TOLERANCE = 1e-8


def pseudo_random(n):
    bits = (np.arange(n, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    bits ^= bits >> np.uint64(31)
    return (bits >> np.uint64(11)).astype(float) * 2.0**-52 - 1


def stencil27(n):
    """The Kronecker product of three tridiagonal matrices of ones is 1 for every neighbour."""
    line = scipy.sparse.diags([np.ones(n - 1), np.ones(n), np.ones(n - 1)], [-1, 0, 1])
    ones = scipy.sparse.kron(line, scipy.sparse.kron(line, line))
    return scipy.sparse.csr_matrix(27 * scipy.sparse.identity(n**3) - ones)


def laplacian(path):
    graph = scipy.sparse.csr_matrix(scipy.io.mmread(path))
    graph.data[:] = 1
    graph.setdiag(0)
    graph.eliminate_zeros()
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    return scipy.sparse.csr_matrix(scipy.sparse.diags(degrees + 0.01) - graph)


def connections(a):
    """|a_ij| / sqrt(a_ii a_jj) of the strong connections."""
    scale = np.sqrt(1 / a.diagonal())
    coo = a.tocoo()
    connection = np.abs(coo.data) * scale[coo.row] * scale[coo.col]
    kept = (coo.row != coo.col) & (connection > STRENGTH)
    return scipy.sparse.csr_matrix((connection[kept], (coo.row[kept], coo.col[kept])), a.shape)


def aggregates(strong):
    begins, columns, values = strong.indptr.tolist(), strong.indices.tolist(), strong.data.tolist()
    rows = range(strong.shape[0])
    neighbours = [columns[begins[row]:begins[row + 1]] for row in rows]
    of = [-1] * len(rows)
    number = 0
    for row in rows:
        if of[row] < 0 and all(of[j] < 0 for j in neighbours[row]):
            for j in [row] + neighbours[row]:
                of[j] = number
            number += 1
    first = list(of)
    for row in rows:
        if first[row] < 0:
            most = 0
            for j, value in zip(neighbours[row], values[begins[row]:begins[row + 1]]):
                if first[j] >= 0 and value > most:
                    most, of[row] = value, first[j]
    for row in rows:
        if of[row] < 0:
            for j in [row] + [j for j in neighbours[row] if of[j] < 0]:
                of[j] = number
            number += 1
    return scipy.sparse.csr_matrix((np.ones(len(rows)), (rows, of)), (len(rows), number))


def spectral_radius(a):
    """The largest eigenvalue of ten steps of Lanczos' method for D^-1/2 A D^-1/2."""
    scale = np.sqrt(1 / a.diagonal())
    v = pseudo_random(len(scale))
    v /= np.linalg.norm(v)
    before, beta = np.zeros_like(v), 0
    diagonal, off_diagonal = [], []
    for _ in range(10):
        w = scale * (a @ (scale * v)) - beta * before
        diagonal.append(w @ v)
        w -= diagonal[-1] * v
        beta = np.linalg.norm(w)
        off_diagonal.append(beta)
        if beta <= 1e-12:
            break
        before, v = v, w / beta
    off_diagonal.pop()
    return np.linalg.eigvalsh(np.diag(diagonal) + np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1))[-1]


def smoothed(a, t, radius):
    return scipy.sparse.csr_matrix(t - scipy.sparse.diags(4 / 3 / radius / a.diagonal()) @ (a @ t))


def smooth(a, radius, b, x):
    """Chebyshev's method of degree two for the eigenvalues from 0.1 to 1.1 times the radius."""
    centre, half_width = 0.6 * radius, 0.5 * radius
    rho, step = half_width / centre, 0
    for k in range(2):
        residual = (b - a @ x) / a.diagonal()
        following = 1 / (2 * centre / half_width - rho) if k else rho
        step = following * rho * step + 2 * following / half_width * residual if k else residual / centre
        x, rho = x + step, following
    return x


def cycle(levels, b):
    a, p, radius = levels[0]
    if p is None:
        return np.linalg.solve(a.toarray(), b)
    x = smooth(a, radius, b, np.zeros_like(b))
    x = x + p @ cycle(levels[1:], p.T @ (b - a @ x))
    return smooth(a, radius, b, x)


def conjugate_gradients(levels, b):
    a = levels[0][0]
    x, residual = np.zeros_like(b), b
    z = direction = cycle(levels, b)
    for iteration in itertools.count():
        if np.linalg.norm(residual) <= TOLERANCE * np.linalg.norm(b):
            return x, iteration
        product = a @ direction
        length = (residual @ z) / (direction @ product)
        before = residual @ z
        x, residual = x + length * direction, residual - length * product
        z = cycle(levels, residual)
        direction = z + (residual @ z) / before * direction


def expect_close(what, found, expected):
    """Equal structure up to entries that are zero but for rounding, equal values but for rounding."""
    assert found.shape == expected.shape, f"{what}: {found.shape} for {expected.shape}"
    difference = abs(found - expected).max() if found.nnz else 0
    limit = 1e-12 * abs(expected).max() if expected.nnz else 0
    assert difference <= limit, f"{what}: values differ by {difference}"


def main(program, matrix, most_iterations):
    with tempfile.TemporaryDirectory() as folder_name:
        folder = pathlib.Path(folder_name)
        if matrix.startswith("graph:"):
            a = laplacian(matrix[len("graph:"):])
            matrix = str(folder / "laplacian.npz")
            scipy.sparse.save_npz(matrix, a)
        elif matrix.startswith("stencil27:"):
            a = stencil27(int(matrix[len("stencil27:"):]))
        else:
            a = scipy.sparse.csr_matrix(scipy.io.mmread(matrix))
        run = subprocess.run([program, matrix, "1", folder_name], check=True, capture_output=True, text=True)
        print(run.stdout)

        levels = []
        times = dict.fromkeys(("strength", "aggregates", "smoothing", "galerkin"), 0)
        for number in itertools.count():
            expect_close(f"A of level {number}", scipy.sparse.load_npz(folder / f"A{number}.npz"), a)
            a = scipy.sparse.load_npz(folder / f"A{number}.npz")
            if a.shape[0] <= COARSEST_ROWS:
                levels.append((a, None, None))
                break
            start = time.perf_counter()
            strong = connections(a)
            marks = [start, time.perf_counter()]
            t = aggregates(strong)
            marks.append(time.perf_counter())
            radius = spectral_radius(a)
            p = smoothed(a, t, radius)
            marks.append(time.perf_counter())
            coarse = scipy.sparse.csr_matrix(p.T @ a @ p)
            coarse.sort_indices()
            marks.append(time.perf_counter())
            for part, begin, end in zip(times, marks, marks[1:]):
                times[part] += end - begin
            written = scipy.sparse.load_npz(folder / f"P{number}.npz")
            expect_close(f"P of level {number}", written, p)
            levels.append((a, written, radius))
            a = coarse
        assert len(levels) > 1 and not (folder / f"A{len(levels)}.npz").exists()
        print("SciPy, ms:", ", ".join(f"{part} {1e3 * taken:.1f}" for part, taken in times.items()))

        b = pseudo_random(levels[0][0].shape[0])
        x, iterations = conjugate_gradients(levels, b)
        found = int(re.search(r"iterations (\d+),", run.stdout).group(1))
        assert abs(found - iterations) <= 1, f"{found} iterations, {iterations} by NumPy"
        assert found <= int(most_iterations), f"{found} iterations, expected {most_iterations}"
        solution = scipy.sparse.load_npz(folder / "x.npz").toarray().ravel()
        residual = np.linalg.norm(b - levels[0][0] @ solution) / np.linalg.norm(b)
        assert residual <= 2 * TOLERANCE, f"residual {residual}"
        assert np.allclose(solution, x, rtol=1e-5, atol=1e-5 * abs(x).max())


if __name__ == "__main__":
    main(*sys.argv[1:])
