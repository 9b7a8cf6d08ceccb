#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `sortie cluster` with another program for Markov clustering (van Dongen's mcl 22-282).

    tests/real_data/compare_clusters.py SORTIE MCL [--no-pruning] [--rounds N] [--backend B] GRAPH...

A GRAPH is a Matrix Market file (.mtx, or compressed as .gz or .xz), whose absolute values are the
weights; or planted:VERTICES:CLUSTERS:SEED, a random graph with random weights. Each is written as
lines of two labels and a weight, which both programs read. They run in turns, with two threads; the
least wall time of each counts. Prints a table; exits with 1 if the clusters differ (--no-pruning), or
if the modularity is more than 1 % below (with pruning).
"""
import argparse
import gzip
import lzma
import math
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def planted(vertices, clusters, seed):
    """Pairs within a cluster are joined with a probability of 0.3, others with 2 / vertices."""
    rng = random.Random(seed)
    of = [rng.randrange(clusters) for _ in range(vertices)]
    edges = {}
    for a in range(vertices):
        for b in range(a):
            if rng.random() < (0.3 if of[a] == of[b] else 2 / vertices):
                edges[b, a] = round(rng.uniform(0.1, 1), 6)
    return edges


def matrix(path):
    opened = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    with opened(path, "rt") as lines:
        symmetric_pattern = "pattern" in next(lines)
        size = next(line for line in lines if not line.startswith("%")).split()
        if size[0] != size[1]:
            sys.exit(f"{path}: found {size[0]} rows and {size[1]} columns, expected a square matrix")
        edges = {}
        for line in lines:
            fields = line.split()
            a, b = sorted((int(fields[0]), int(fields[1])))
            weight = 1 if symmetric_pattern else math.hypot(*map(float, fields[2:]))
            if a != b and weight > 0:
                edges[a, b] = max(edges.get((a, b), 0), weight)
    return edges


def clusters_in(path):
    return [line.split("\t") for line in path.read_text().splitlines()]


def modularity(clusters, edges):
    cluster_of = {member: i for i, members in enumerate(clusters) for member in members}
    degrees = [0.0] * len(clusters)
    inside = total = 0.0
    for (a, b), weight in edges.items():
        ours, other = cluster_of[str(a)], cluster_of[str(b)]
        degrees[ours] += weight
        degrees[other] += weight
        total += weight
        inside += weight if ours == other else 0
    return inside / total - sum((degree / (2 * total)) ** 2 for degree in degrees)


def seconds_of(command):
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sortie")
    parser.add_argument("mcl")
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--no-pruning", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--backend", default="host")
    options = parser.parse_args()
    ratios = []
    failed = False
    print(f"{'graph':24} {'vertices':>8} {'edges':>8} {'sortie s':>9} {'mcl s':>9} {'ratio':>6} "
          f"{'clusters':>8} {'of mcl':>8} {'differ':>6} {'modularity':>10} {'of mcl':>10}")
    with tempfile.TemporaryDirectory() as folder:
        graph, ours, theirs = (Path(folder, name) for name in ("graph", "ours", "theirs"))
        for name in options.graphs:
            if name.startswith("planted:"):
                edges = planted(*map(int, name.split(":")[1:]))
            else:
                edges = matrix(Path(name))
            graph.write_text("".join(f"{a}\t{b}\t{w:.9g}\n" for (a, b), w in edges.items()))
            sortie = [options.sortie, "cluster", graph, "-o", ours, "--backend", options.backend,
                      "--threads", "2"]
            mcl = [options.mcl, graph, "--abc", "-o", theirs, "-te", "2", "-V", "all"]
            if options.no_pruning:
                sortie.append("--no-pruning")
                # A cutoff of 0; limits of entries that no column reaches; nothing is recovered.
                mcl += ["-p", "0", "-S", "100000000", "-R", "100000000", "-pct", "0"]
            times = [(seconds_of(sortie), seconds_of(mcl)) for _ in range(options.rounds)]
            our_time, their_time = (min(column) for column in zip(*times))
            found, expected = clusters_in(ours), clusters_in(theirs)
            common = {frozenset(c) for c in found} & {frozenset(c) for c in expected}
            vertices = sum(map(len, expected))
            differ = vertices - sum(map(len, common))
            our_q, their_q = modularity(found, edges), modularity(expected, edges)
            failed |= differ > 0 if options.no_pruning else our_q < 0.99 * their_q
            ratios.append(their_time / our_time)
            label = name if ":" in name else Path(name).name.split(".")[0]
            print(f"{label:24} {vertices:8} {len(edges):8} {our_time:9.3f} {their_time:9.3f} "
                  f"{ratios[-1]:6.1f} {len(found):8} {len(expected):8} {differ:6} {our_q:10.6f} "
                  f"{their_q:10.6f}", flush=True)
    print(f"geometric mean of the ratios: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
