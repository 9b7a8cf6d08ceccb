# SPDX-License-Identifier: Apache-2.0
"""Matrix Market, FASTA and FASTQ files."""

from __future__ import annotations

import gzip
import io
import os
import threading

import numpy as np
import pytest

import sortie

scipy_sparse = pytest.importorskip("scipy.sparse")
scipy_io = pytest.importorskip("scipy.io")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("kind", ["csr_matrix", "csc_array", "coo_matrix"])
def test_matrices_are_written_and_read(tmp_path, rng, dtype, kind):
    dense = (rng.standard_normal((20, 30)) * (rng.random((20, 30)) < 0.2)).astype(dtype)
    if dtype == np.complex128:
        dense *= 1 - 3j
    A = getattr(scipy_sparse, kind)(dense)
    path = tmp_path / "a.mtx"
    sortie.write_matrix_market(path, A)
    np.testing.assert_array_equal(scipy_io.mmread(path).toarray().astype(dtype), dense)
    B = sortie.read_matrix_market(path, dtype=dtype)
    assert type(B) is scipy_sparse.csr_matrix
    assert B.dtype == dtype and B.indices.dtype == B.indptr.dtype == np.int32
    assert B.has_canonical_format and B.has_sorted_indices
    np.testing.assert_array_equal(B.toarray(), dense)


def test_types_follow_the_header(tmp_path):
    path = tmp_path / "a.mtx"
    for field, dtype in (("complex", np.complex128), ("real", np.float64), ("pattern", np.float64)):
        value = {"complex": " 2 3", "real": " 2", "pattern": ""}[field]
        path.write_text(f"%%MatrixMarket matrix coordinate {field} general\n2 2 1\n2 1{value}\n")
        A = sortie.read_matrix_market(str(path), spmatrix=False)
        assert type(A) is scipy_sparse.csr_array
        assert A.dtype == dtype
        assert A.toarray()[1, 0] == {"complex": 2 + 3j, "real": 2, "pattern": 1}[field]


def test_symmetric_matrices_are_read_whole(tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 5\n2 1 7\n")
    assert sortie.read_matrix_market(path).toarray().tolist() == [[5, 7], [7, 0]]


def test_matrices_of_file_objects(tmp_path):
    A = scipy_sparse.csr_matrix(np.array([[0, 1.5], [2.5, 0]]))
    file = io.BytesIO()
    sortie.write_matrix_market(file, A)
    for content in (file.getvalue(), gzip.compress(file.getvalue())):
        B = sortie.read_matrix_market(io.BytesIO(content))
        np.testing.assert_array_equal(B.toarray(), A.toarray())
    with pytest.raises(TypeError, match="text mode; expected binary"):
        sortie.read_matrix_market(io.StringIO(file.getvalue().decode()))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (3, 3)])
def test_empty_matrices(tmp_path, shape):
    path = tmp_path / "a.mtx"
    sortie.write_matrix_market(path, scipy_sparse.csr_matrix(shape))
    A = sortie.read_matrix_market(path)
    assert A.shape == shape and A.nnz == 0


def test_columns_beyond_int32(tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate real general\n1 {2**40} 1\n1 {2**40} 1\n")
    A = sortie.read_matrix_market(path)
    assert A.shape == (1, 2**40) and A.indices.dtype == np.int64
    assert A.indices.tolist() == [2**40 - 1]


def test_refused_matrix_files(tmp_path):
    path = tmp_path / "a.mtx"
    with pytest.raises(FileNotFoundError):
        sortie.read_matrix_market(path)
    path.write_text("no matrix\n")
    with pytest.raises(ValueError, match="a.mtx"):
        sortie.read_matrix_market(path)
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n")
    with pytest.raises(ValueError, match="a.mtx"):
        sortie.read_matrix_market(path)
    with pytest.raises(TypeError, match="dtype of the matrix has dtype int64"):
        sortie.read_matrix_market(path, dtype=np.int64)


def test_refused_output(tmp_path):
    A = scipy_sparse.csr_matrix(np.eye(2))
    with pytest.raises(OSError):
        sortie.write_matrix_market(tmp_path / "missing" / "a.mtx", A)
    with pytest.raises(TypeError, match="A is of type numpy.ndarray"):
        sortie.write_matrix_market(tmp_path / "a.mtx", np.eye(2))
    assert list(tmp_path.iterdir()) == []


# --- Sequences ------------------------------------------------------------------------------------

FASTA = b">one first record\nACGT\nAC\n>two\n>three\nggg\n"


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_fasta(tmp_path, pack):
    path = tmp_path / "genome.fa"
    path.write_bytes(pack(FASTA))
    for source in (path, str(path), io.BytesIO(path.read_bytes())):
        genome = sortie.read_fasta(source)
        assert len(genome) == 3
        assert bytes(genome.symbols) == b"ACGTAC\0\0GGG"
        assert genome.separators.tolist() == [6, 7]
        assert genome.offsets.tolist() == [0, 7, 8]
        assert genome.lengths.tolist() == [6, 0, 3]
        assert [name.split()[0] for name in genome.names] == ["one", "two", "three"]
        assert [bytes(record.symbols) for record in genome] == [b"ACGTAC", b"", b"GGG"]
        assert genome[-1].name == "three"
        assert repr(genome) == "<sortie.Sequences: 3 records, 9 symbols>"


def test_a_pipe_is_read_once(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    content = b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 5\n"
    writer = threading.Thread(target=path.write_bytes, args=(content,))
    writer.start()
    assert sortie.read_matrix_market(path).toarray().tolist() == [[5.0]]
    writer.join()
    with pytest.raises(IsADirectoryError):
        sortie.read_matrix_market(tmp_path)


def test_symbols_are_over_the_memory_of_the_library():
    genome = sortie.read_fasta(io.BytesIO(FASTA))
    assert np.shares_memory(genome[0].symbols, genome.symbols)
    record = genome[2]
    del genome
    assert bytes(record.symbols) == b"GGG"


def test_case_and_alphabet():
    assert bytes(sortie.read_fasta(io.BytesIO(b">r\nacGT\n")).symbols) == b"ACGT"
    assert bytes(sortie.read_fasta(io.BytesIO(b">r\nacGT\n"), keep_case=True).symbols) == b"acGT"
    with pytest.raises(ValueError):
        sortie.read_fasta(io.BytesIO(b">r\nACGU\n"), alphabet="dna")
    with pytest.raises(ValueError, match="alphabet"):
        sortie.read_fasta(io.BytesIO(b">r\nACGT\n"), alphabet="klingon")


def test_fastq():
    reads = sortie.read_fasta(io.BytesIO(b"@r1\nACGT\n+\nIIII\n@r2\nGG\n+\nII\n"))
    assert [bytes(read.symbols) for read in reads] == [b"ACGT", b"GG"]


def test_positions_of_records():
    genome = sortie.read_fasta(io.BytesIO(FASTA))
    records, within = genome.record_of(np.array([0, 5, 8, 10], np.uint32))
    assert records.tolist() == [0, 0, 2, 2] and within.tolist() == [0, 5, 0, 2]
    assert genome.record_of(np.empty(0, np.uint32))[0].shape == (0,)
    with pytest.raises(IndexError, match="expected 0 to 10"):
        genome.record_of([11])
    with pytest.raises(IndexError, match="record 3 of 3"):
        genome[3]
    with pytest.raises(TypeError):
        genome["one"]


def test_refused_sequences(tmp_path):
    with pytest.raises(FileNotFoundError):
        sortie.read_fasta(tmp_path / "missing.fa")
    with pytest.raises(ValueError, match="1"):
        sortie.read_fasta(io.BytesIO(b"ACGT\n"))


def test_names_that_the_library_reads_otherwise(tmp_path, monkeypatch):
    sparse = pytest.importorskip("scipy.sparse", reason="SciPy is not installed")
    monkeypatch.chdir(tmp_path)
    A = sparse.csr_matrix(np.eye(2))
    sortie.write_matrix_market("-", A)  # a file, not standard output
    assert abs(sortie.read_matrix_market("-") - A).max() == 0
    for call in (
        lambda: sortie.write_matrix_market("a\0b", A),
        lambda: sortie.read_fasta("-", alphabet="dn\0a"),
    ):
        with pytest.raises(ValueError, match="null character"):
            call()
    assert [path.name for path in tmp_path.iterdir()] == ["-"]
