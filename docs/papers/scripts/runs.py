# SPDX-License-Identifier: Apache-2.0
"""Runs of the bench by page and report."""

LENGTHS = " ".join(f"--case 'length {2 ** e}'" for e in range(15))
SORTS = "uniform normal zipf:0.5 zipf:1.5 sorted nearly reverse equal entropy:8 entropy:10 entropy:26"
HOST_SORTS = "uniform normal zipf:1.5 sorted nearly reverse equal entropy:10"
HOST_PEERS = "--algorithm radix paradis gnu-parallel-sort"
WEBS = "gen:web:1M:3154K:71M:500:40:0.85 gen:web:916428:5105K:60300K:32:200:0.8 gen:er:1M:4"
SKEWED = " ".join(["uniform", *(f"entropy:{b}" for b in (28, 26, 25, 24, 20, 18, 16, 12, 10, 9, 8, 4)), "equal",
                  *(f"zipf:{e}" for e in (0.5, 0.75, 1, 1.25, 1.5, 2))])
DEVIATIONS = "uniform normal:0.3 normal:0.1 normal:0.01 normal:0.001 normal:0.0001 normal:0.00001 zipf:0.5 zipf:1 zipf:2 equal"
OTHERS = "normal zipf sorted reverse nearly entropy high-bits few equal shared-digit"
TANASIC = "--algorithm tanasic --values u32 --case uniform --repeat 3 --without-cub"
EXPONENTS = tuple(range(16, 29, 2))


def tanasic_runs(gpus, suffix=""):
    """Runs of figures 6 to 9 by their reports."""
    by_size = lambda key, more, exponents: [f"bench sort --type {key} --items {2 ** e} --gpus {gpus} {more}{TANASIC}" for e in exponents]
    return {f"tanasic-f32{suffix}": by_size("f32", "", EXPONENTS), f"tanasic-f64{suffix}": by_size("f64", "", EXPONENTS[::2]),
            f"tanasic-host-f32{suffix}": by_size("f32", "--host-to-host ", EXPONENTS[1:]), f"tanasic-host-f64{suffix}": by_size("f64", "--host-to-host ", EXPONENTS[2::2])}


# What is changed of rmg, and the keys for which it matters.
RMG_CHANGES = (("", "uniform zipf:0.5 reverse equal entropy:10"), ("no-overlap", "uniform"), ("fuse=0 max-brs=100000", "uniform"), ("fuse=0", "uniform"), ("fuse=2", "uniform"),
               ("max-brs=100000", "zipf:0.5"), ("min-sco=0", "entropy:10"), ("move-all", "equal entropy:10"), ("exchange-mirrored", "reverse"), ("batch-copies", "uniform entropy:10"))


def rmg_changes():
    """Runs that change a part of rmg each; the last ones in GPU memory, of many copies."""
    return [*(f"bench sort --items 128M --gpus 2 --host-to-host --algorithm rmg --case {cases} --repeat 5 --without-cub{' --rmg ' + change if change else ''}" for change, cases in RMG_CHANGES),
            *(f"bench sort --items 256M --gpus 8 --algorithm rmg --case uniform normal entropy:26 zipf:0.75 --repeat 3 --without-cub{change}" for change in ("", " --rmg batch-copies"))]


def ilic_runs(gpus, suffix):
    """Runs of Ilic's figures on several GPUs by their reports; all but those of the types from host memory to host memory."""
    run = lambda items, algorithms, cases, on=gpus: f"bench sort --items {items} --gpus {on} --host-to-host --algorithm {algorithms} --case {cases} --repeat 3 --without-cub"
    several, most = gpus.removeprefix("1 "), " ".join(gpus.split()[-2:])  # most: all GPUs, and eight devices
    return {f"ilic-host-512M{suffix}": run("512M", "rmg tanasic het", "uniform"),
            **({f"ilic-options{suffix}": rmg_changes()} if suffix == "-x2" else {}),
            f"ilic-host{suffix}": run("128M", "rmg tanasic", HOST_SORTS, several),
            f"ilic-skew{suffix}": run("128M", "rmg", SKEWED, most),
            f"ilic-host-sizes{suffix}": [run(items, "rmg tanasic het", "uniform", several) for items in ("8M", "32M")],
            f"ilic-cases{suffix}": f"bench sort --items 1G --gpus {most.split()[0]} --algorithm rmg tanasic --case {SORTS} --repeat 3",
            **{f"ilic-{t}{suffix}": f"bench sort --type {t} --items 512M --gpus {most} --algorithm rmg tanasic --case {'zipf:1' if t[0] == 'f' else 'uniform'} --repeat 3 --without-cub"
               for t in ("u32", "u64", "f32", "f64")}}


# Arguments of sortie-bench by page and report; a list is of several runs, whose rows are in one report.
RUNS = {
    "hou-2017": {
        "hou-kernels": "bench tune --paper --items 32M --repeat 3",
        "hou-lengths": f"bench segsort --policy tuned --policy ics17 --items 128M --repeat 3 {LENGTHS}",
        "hou-grid": "bench segsort --grid --policy ics17 --items 8M",
        "hou-grid-64": "bench segsort --grid --policy ics17 --items 8M --value u64",
        "hou-rounds": "bench suffix-array gen:dna:16M gen:repeats:16M --algorithm prefix-doubling --rounds 8 --repeat 1",
        "hou-products": f"bench spgemm {WEBS} gen:rmat:15:8 gen:banded:200K:4 --algorithm essc --check-by row-wise --repeat 1",
        "hou-suffix-arrays": "bench suffix-array gen:dna:16M gen:dna:64M gen:dna:128M gen:repeats:16M gen:repeats:64M "
                             "gen:fibonacci:16M --algorithm prefix-doubling dc3 pdss --repeat 3",
    },
    "tanasic-2013": {
        "tanasic-links": "bench links --gpus 2 --repeat 5",
        **tanasic_runs("1 2 4"),
        "tanasic-staged-28": f"bench sort --type f32 --items {2 ** 28} --gpus 2 4 --transport staged {TANASIC}",
        "tanasic-host-peers": [f"bench sort --backend host --type f32 --values u32 --items {2 ** e} --threads {t} --case uniform --repeat 2 --algorithm gnu-parallel-sort"
                               for e in EXPONENTS[1:-1:2] for t in (8, 16)],
    },
    "ilic-2022": {
        "ilic-cases": f"bench sort --items 1G --gpus 2 --algorithm rmg tanasic --case {SORTS} --repeat 3 --without-cub",
        "ilic-bits": "bench sort --classics --from 1G --items 1G --repeat 5 --algorithm 'cub radix' " + " ".join(f"'cub radix, {b} bits'" for b in range(4, 32, 4)),
        "ilic-host": f"bench sort --items 128M --gpus 2 --host-to-host --algorithm rmg rmg-repair tanasic --case {HOST_SORTS} --repeat 3 --without-cub",
        **{f"ilic-{t}": f"bench sort --type {t} --items 512M --gpus 2 --algorithm rmg tanasic --case {'zipf:1' if t[0] == 'f' else 'uniform'} --repeat 3 --without-cub"
           for t in ("u32", "u64", "f32", "f64")},
        "ilic-skew": f"bench sort --items 256M --gpus 2 8 --algorithm rmg --case {SKEWED} --repeat 3 --without-cub",
        "ilic-options": rmg_changes(),
        "ilic-cases-8": "bench sort --items 256M --gpus 8 --algorithm rmg tanasic --case uniform normal zipf:1.5 sorted reverse equal entropy:10 --repeat 3 --without-cub",
        "ilic-host-peers": [f"bench sort --backend host --items {items} --case uniform --repeat {repeat} {HOST_PEERS}" for items, repeat in (("2M", 3), ("8M", 3), ("32M", 3), ("128M", 1))],
    },
    "capannini-2011": {
        "capannini-distributions": "bench sort --classics --from 1M --items 64M --repeat 20 --case uniform normal zipf equal "
                                   "--algorithm 'sortie bitonic' quicksort 'tiled radix'",
        "capannini-deviations": f"bench sort --classics --from 16M --items 16M --repeat 20 --case {DEVIATIONS} "
                                "--algorithm 'sortie bitonic' quicksort 'tiled radix'",
    },
    "garland-survey": {
        "garland-classics": "bench sort --classics --items 256M --repeat 3",
        "garland-quadratic": f"bench sort --classics --from 16K --items 16K --repeat 3 --case {OTHERS}",
        "garland-pairs": "bench sort --classics --values u32 --items 256M --repeat 3",
        "garland-pairs-quadratic": f"bench sort --classics --values u32 --from 16K --items 16K --repeat 3 --case {OTHERS}",
        "garland-pairs-distributions": f"bench sort --classics --values u32 --from 1M --items 1M --repeat 3 --case {OTHERS}",
        "garland-distributions": f"bench sort --classics --from 1M --items 1M --repeat 3 --case {OTHERS}",
    },
    "cusp": {"cusp-products": f"bench spgemm {WEBS} matrices/sample/NotreDame_www.mtx.gz --algorithm cusp esc essc fused cusparse --check-by row-wise --repeat 7"},
}
# The same on several GPUs, measured where there are as many.
ON_GPUS = {
    number: {
        "tanasic-2013": {
            f"tanasic-links-x{number}": f"bench links --gpus {number} --repeat 5",
            **({"tanasic-links-64M": "bench links --gpus 2 --bytes 64M --repeat 3"} if number == 2 else {}),
            **tanasic_runs(gpus, f"-x{number}"),
            f"tanasic-staged-28-x{number}": f"bench sort --type f32 --items {2 ** 28} --gpus {gpus.removeprefix('1 ')} --transport staged {TANASIC}",
        },
        "ilic-2022": ilic_runs(gpus + " 8", f"-x{number}"),
    }
    for number, gpus in ((2, "1 2"), (4, "1 2 4"))
}
