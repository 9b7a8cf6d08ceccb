#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates a corpus like documentation, for machines without one: deterministic, about 40 % duplicates.

    make_generated_corpus.py OUT.jsonl[.zst] 1000      # MB of text
    make_generated_corpus.py OUT.txt 20000 --copies 1000   # one document: mutated copies of 20 MB

Documents are words with the frequencies of natural text. Each begins and ends with boilerplate, contains some of
500 common passages, and a tenth are changed copies of earlier ones. --copies changes 0.1 % of the bytes of each
copy. .zst needs libzstd; parts of 8 MB are frames of their own.
"""

import argparse
import ctypes
import ctypes.util
import json
import random
import sys


class Output:
    """A file, compressed where its name says so."""

    def __init__(self, path):
        self.file = open(path, "wb")
        self.zstd = None
        self.parts = []
        self.bytes = 0
        if path.endswith(".zst"):
            try:
                self.zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
            except OSError as error:
                sys.exit(f"make_generated_corpus.py: {path}: found no libzstd ({error}), expected it for .zst")
            self.zstd.ZSTD_compress.restype = ctypes.c_size_t
            self.zstd.ZSTD_compressBound.restype = ctypes.c_size_t
            self.zstd.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
            self.zstd.ZSTD_compress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t,
                                                ctypes.c_int]

    def write(self, data):
        self.parts.append(data)
        self.bytes += len(data)
        if self.bytes >= 8 << 20:
            self.flush()

    def flush(self):
        data = b"".join(self.parts)
        self.parts, self.bytes = [], 0
        if self.zstd and data:
            buffer = ctypes.create_string_buffer(self.zstd.ZSTD_compressBound(len(data)))
            size = self.zstd.ZSTD_compress(buffer, len(buffer), data, len(data), 3)
            data = buffer.raw[:size]
        self.file.write(data)

    def close(self):
        self.flush()
        self.file.close()


def vocabulary(rng, size):
    syllables = ["".join(rng.choice(s) for s in ("bcdfghklmnprstvw", "aeiou", ["", "n", "r", "s", "t", "l"]))
                 for _ in range(400)]
    return ["".join(rng.choices(syllables, k=rng.choice((1, 1, 2, 2, 2, 3)))) for _ in range(size)]


class Words:
    """Text of words, of which the i-th most frequent one has a weight of 1 / i, in lines."""

    def __init__(self, rng):
        self.rng = rng
        self.words = vocabulary(rng, 50_000)
        self.weights = [0.0]
        for i in range(1, 50_000):
            self.weights.append(self.weights[-1] + 1 / i)
        self.weights[0] = 1e-9
        self.pool = []

    def text(self, words):
        if len(self.pool) < words:
            self.pool = self.rng.choices(self.words, cum_weights=self.weights, k=1_000_000)
        taken = self.pool[-words:]
        del self.pool[-words:]
        return "\n".join(" ".join(taken[i : i + 12]) for i in range(0, words, 12))


def write_documents(out, rng, size):
    words = Words(rng)
    passages = [words.text(rng.choice((20, 40, 80, 300))) for _ in range(500)]
    footers = [words.text(150) for _ in range(20)]
    earlier = []
    written = number = 0
    while written < size:
        if earlier and rng.random() < 0.1:
            text = rng.choice(earlier)
            for _ in range(len(text) // 4000):
                at = rng.randrange(len(text))
                text = text[:at] + "X" + text[at + 1 :]
        else:
            parts = [passages[int(500 * rng.random() ** 3)]]
            for _ in range(rng.randrange(1, 6)):
                parts.append(words.text(rng.randrange(30, 600)))
                if rng.random() < 0.7:
                    parts.append(passages[int(500 * rng.random() ** 3)])
            parts.append(rng.choice(footers))
            text = "\n\n".join(parts)
            earlier.append(text)
            if len(earlier) > 5000:
                earlier[rng.randrange(5000)] = earlier.pop()
        out.write((json.dumps({"id": number, "text": text}) + "\n").encode())
        written += len(text)
        number += 1


def write_copies(out, rng, size, copies):
    base = rng.randbytes(size // copies).translate(bytes(97 + b % 26 for b in range(256)))
    for _ in range(copies):
        copy = bytearray(base)
        for _ in range(len(copy) // 1000):
            copy[rng.randrange(len(copy))] = 65 + rng.randrange(26)
        out.write(bytes(copy))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("megabytes", type=int)
    parser.add_argument("--copies", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    out = Output(arguments.output)
    if arguments.copies:
        write_copies(out, rng, arguments.megabytes * 1_000_000, arguments.copies)
    else:
        write_documents(out, rng, arguments.megabytes * 1_000_000)
    out.close()


if __name__ == "__main__":
    main()
