# SPDX-License-Identifier: Apache-2.0
"""Suffix arrays and searches against plain Python."""

from __future__ import annotations

import io

import numpy as np
import pytest
from references import lcp_reference, suffix_array_reference

import sortie


@pytest.mark.parametrize("dtype", ["uint32", "int32", "uint64", "int64"])
def test_types_of_positions(dtype):
    suffixes = sortie.suffix_array(b"banana", dtype=dtype)
    assert suffixes.dtype == dtype
    assert suffixes.tolist() == [5, 3, 1, 0, 4, 2]
    assert sortie.lcp(b"banana", suffixes).tolist() == [0, 1, 3, 0, 0, 2]
    assert bytes(sortie.bwt(b"banana", suffixes)) == b"nnbaaa"
    index = sortie.SuffixIndex(b"banana", suffixes=suffixes)
    assert index.locate("an").dtype == dtype
    assert index.locate("an").tolist() == [3, 1]


@pytest.mark.parametrize(
    "text",
    ["banana", b"banana", bytearray(b"banana"), memoryview(b"banana")]
    + [np.frombuffer(b"banana", np.uint8), np.frombuffer(b"bxaxnxaxnxax", np.uint8)[::2]],
    ids=["str", "bytes", "bytearray", "memoryview", "array", "strided"],
)
def test_kinds_of_texts(text):
    assert sortie.suffix_array(text).tolist() == [5, 3, 1, 0, 4, 2]


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32", "int32", "int64", "uint64"])
def test_separators_of_any_integers(dtype):
    expected = suffix_array_reference(b"banana", [1, 4])
    separators = np.array([1, 4], dtype)
    assert sortie.suffix_array(b"banana", separators=separators).tolist() == expected
    assert sortie.suffix_array(b"banana", separators=np.repeat(separators, 2)[::2]).tolist() == expected


@pytest.mark.parametrize("text", ["", b"", np.empty(0, np.uint8)], ids=["str", "bytes", "array"])
def test_the_empty_text(text):
    assert sortie.suffix_array(text).shape == (0,)
    assert sortie.lcp(text).shape == (0,)
    assert sortie.bwt(text).shape == (0,)
    index = sortie.SuffixIndex(text)
    assert index.count("a") == 0
    assert index.locate("a").shape == (0,)


def test_paths_and_sequences(tmp_path):
    path = tmp_path / "genome.fa"
    path.write_bytes(b">one\nACGT\n>two\nACG\n")
    expected = suffix_array_reference(b"ACGT\0ACG", [4])
    assert sortie.suffix_array(path).tolist() == expected
    sequences = sortie.read_fasta(path)
    assert sortie.suffix_array(sequences).tolist() == expected
    assert sortie.lcp(path).tolist() == lcp_reference(b"ACGT\0ACG", expected, [4])
    with pytest.raises(ValueError, match="separators were given"):
        sortie.suffix_array(path, separators=[4])


def test_refused_texts():
    with pytest.raises(ValueError, match="text has a character that is not ASCII, at 2"):
        sortie.suffix_array("caf\N{LATIN SMALL LETTER E WITH ACUTE}"[1:])
    with pytest.raises(TypeError, match="text has dtype int64; expected uint8, bytes or str"):
        sortie.suffix_array([1, 2])
    with pytest.raises(ValueError, match=r"text has shape \(2, 2\)"):
        sortie.suffix_array(np.zeros((2, 2), np.uint8))
    with pytest.raises(TypeError, match="dtype is float64; expected uint32"):
        sortie.suffix_array(b"a", dtype=float)
    with pytest.raises(ValueError, match="separators"):
        sortie.suffix_array(b"abc", separators=[3])
    with pytest.raises(ValueError, match="separators"):
        sortie.suffix_array(b"abc", separators=[-1])
    with pytest.raises(TypeError, match="separators has dtype float64"):
        sortie.suffix_array(b"abc", separators=np.zeros(1))
    with pytest.raises(ValueError, match="suffixes has 2 entries; expected 3"):
        sortie.lcp(b"abc", np.zeros(2, np.uint32))
    with pytest.raises(TypeError, match="suffixes has dtype float64"):
        sortie.lcp(b"abc", np.zeros(3))


# --- Searches -------------------------------------------------------------------------------------


def test_one_pattern_and_several():
    index = sortie.SuffixIndex("banana")
    assert index.count(b"ana") == 2 and type(index.count("ana")) is int
    assert index.count(np.frombuffer(b"ana", np.uint8)) == 2
    assert index.count(("ana", b"x", np.frombuffer(b"na", np.uint8))).tolist() == [2, 0, 2]
    assert index.count(np.frombuffer(b"ananna", np.uint8).reshape(3, 2)).tolist() == [2, 2, 2]
    assert index.count([]).shape == (0,)
    assert index.locate("a", most=2).tolist() == [5, 3]
    assert index.locate("a", most=0).tolist() == []
    offsets, positions = index.locate(["a", "n"], most=1)
    assert offsets.tolist() == [0, 1, 2] and positions.tolist() == [5, 4]
    with pytest.raises(ValueError, match="most is -1"):
        index.locate("a", most=-1)


def test_refused_patterns():
    index = sortie.SuffixIndex("banana")
    with pytest.raises(TypeError, match="patterns is of type int"):
        index.count(7)
    with pytest.raises(TypeError, match=r"patterns\[1\] is of type int"):
        index.count(["a", 7])


def test_an_index_of_records(tmp_path):
    genome = sortie.read_fasta(io.BytesIO(b">one\nACGT\n>two\nTACG\n"))
    index = sortie.SuffixIndex(genome)
    assert index.count("TT") == 0 and index.count("TA") == 1  # none across records
    records, within = genome.record_of(index.locate("ACG"))
    assert sorted(zip(records.tolist(), within.tolist())) == [(0, 0), (1, 1)]
    reads = sortie.read_fasta(io.BytesIO(b">r1\nCG\n>r2\nGGG\n"))
    assert index.count(reads).tolist() == [2, 0]
    assert repr(index) == "<sortie.SuffixIndex: 9 symbols, 2 records, uint32 positions>"


def test_save_and_load(tmp_path):
    path = tmp_path / "index.npz"
    genome = sortie.read_fasta(io.BytesIO(b">one\nACGT\n>two words\nTACG\n"))
    sortie.SuffixIndex(genome).save(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["index.npz"]
    index = sortie.SuffixIndex.load(path)
    assert index.count("ACG") == 2
    assert index.sequences.names == genome.names
    assert index.sequences.offsets.tolist() == [0, 5]
    index.check()
    sortie.SuffixIndex(b"banana", separators=[2]).save(path)  # replaces the file
    index = sortie.SuffixIndex.load(path, backend="host")
    assert index.sequences is None and index.separators.tolist() == [2]
    assert index.count("na") == 1


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "index.npz"
    sortie.SuffixIndex(b"banana" * 100).save(path)
    whole = path.read_bytes()
    for content in (whole[:-30], whole[:700], b"", b"no index", whole.replace(b"nan", b"nin", 1)):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="is not an index of Sortie"):
            sortie.SuffixIndex.load(path)
    np.savez(path, text=np.zeros(1))
    with pytest.raises(ValueError, match="is not an index of Sortie: no .*suffixes"):
        sortie.SuffixIndex.load(path)
    with pytest.raises(FileNotFoundError):
        sortie.SuffixIndex.load(tmp_path / "missing.npz")


def test_a_failed_save_leaves_nothing(tmp_path):
    with pytest.raises(OSError):
        sortie.SuffixIndex(b"ab").save(tmp_path / "missing" / "index.npz")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        sortie.SuffixIndex(b"ab").save(tmp_path / "folder")
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


def test_check_finds_a_wrong_suffix_array():
    suffixes = sortie.suffix_array(b"banana")
    suffixes[[0, 1]] = suffixes[[1, 0]]
    with pytest.raises(sortie.Error) as caught:
        sortie.SuffixIndex(b"banana", suffixes=suffixes).check()
    assert type(caught.value) is sortie.Error


def test_most_is_checked():
    index = sortie.SuffixIndex(b"banana")
    assert index.locate("a", most=2).size == 2
    for most, error in ((-1, ValueError), (2**64, ValueError), (1.5, TypeError)):
        with pytest.raises(error, match="most"):
            index.locate("a", most=most)


def test_a_saved_index_has_the_usual_rights_and_another_file_is_refused(tmp_path):
    path = tmp_path / "index.npz"
    sortie.SuffixIndex(b"banana").save(path)
    (tmp_path / "plain").write_bytes(b"")
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode
    np.save(tmp_path / "array.npy", np.arange(3))
    with pytest.raises(ValueError, match="not an index"):
        sortie.SuffixIndex.load(tmp_path / "array.npy")
