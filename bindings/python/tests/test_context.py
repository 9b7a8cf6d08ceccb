# SPDX-License-Identifier: Apache-2.0
"""Options, errors, progress, Ctrl-C, threads, and who owns the memory of results."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import sortie
from sortie import _context, _errors, _library, _progress
from sortie._memory import Handle
from sortie._options import Settings


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs code in a process of its own."""
    path = str(Path(sortie.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-c", code],
        env={
            **os.environ,
            "PYTHONPATH": path,
            "SORTIE_LIBRARY": os.path.abspath(_library.library_path),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=60,
    )


# --- Options --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "option, error, message",
    [
        ({"thread": 1}, TypeError, "unexpected keyword argument 'thread'; options are threads, "),
        ({"threads": -1}, ValueError, "threads is -1; expected 0 or more"),
        ({"threads": 1.5}, TypeError, "threads is 1.5; expected an int"),
        ({"memory_budget": 2**64}, ValueError, "memory_budget is 18446744073709551616"),
        ({"device": "gpu"}, TypeError, "device is 'gpu'; expected an int"),
        ({"backend": "cpu"}, ValueError, "backend is 'cpu'; expected one of 'auto', 'cuda', 'host'"),
        ({"backend": ["host"]}, ValueError, r"backend is \['host'\]"),
        ({"progress": 7}, TypeError, "progress is 7; expected a bool or a callable"),
    ],
)
def test_options_are_checked(option, error, message):
    with pytest.raises(error, match=message):
        sortie.sort([2, 1], **option)


def test_options_hold_for_one_call():
    careful = sortie.Options(backend="host", memory_budget=1 << 30)
    assert sortie.sort([2, 1], **careful).tolist() == [1, 2]
    with pytest.raises(MemoryError):
        sortie.sort(np.zeros(1 << 20), values=np.zeros((1 << 20, 3)), memory_budget=1000)
    assert sortie.sort(np.zeros(1 << 20), values=np.zeros((1 << 20, 3)))[0].size == 1 << 20


def test_the_number_of_threads_is_fixed_by_the_first_call():
    code = (
        "import sortie\n"
        "sortie.sort([2, 1], threads=1, backend='host')\n"
        "sortie.sort([2, 1], backend='host')\n"
        "try: sortie.sort([2, 1], threads=2, backend='host')\n"
        "except ValueError as error: print(error)\n"
    )
    ran = run_python(code)
    assert ran.returncode == 0, ran.stderr
    assert "threads" in ran.stdout


# --- Errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "status, error",
    [
        (_library.INPUT, ValueError),
        (_library.USAGE, ValueError),
        (_library.OUTPUT, OSError),
        (_library.OUT_OF_MEMORY, MemoryError),
        (_library.UNAVAILABLE, sortie.DeviceError),
        (_library.DEVICE, sortie.DeviceError),
        (_library.CHECK, sortie.Error),
        (_library.INTERNAL, sortie.Error),
        (77, sortie.Error),
    ],
)
def test_every_status_has_an_exception(status, error):
    raised = _errors.exception(status, "what was found")
    assert type(raised) is error
    assert str(raised) == "what was found"
    assert issubclass(sortie.DeviceError, sortie.Error)


def test_memory_error_has_the_bytes():
    with pytest.raises(MemoryError, match=r"\d"):
        sortie.suffix_array(bytes(1 << 20), memory_budget=1000)


@pytest.mark.skipif(sortie.info().cuda, reason="the library has CUDA")
def test_cuda_is_a_device_error_without_it():
    with pytest.raises(sortie.DeviceError, match="CUDA"):
        sortie.sort([2, 1], backend="cuda")


class ForeignGpuArray:
    """An array on a GPU, of a library that the package does not know."""

    __cuda_array_interface__ = {
        "version": 3,
        "shape": (2,),
        "typestr": "<i8",
        "data": (4096, False),
        "stream": None,
    }


@pytest.mark.skipif(bool(sortie.info().devices), reason="there is a GPU")
def test_a_gpu_array_without_a_usable_gpu_is_a_device_error():
    with pytest.raises(sortie.DeviceError, match="keys is an array on GPU 0, and .*CUDA|no GPU"):
        sortie.sort(ForeignGpuArray())
    with pytest.raises(sortie.DeviceError, match="offsets is an array on GPU 0"):
        sortie.segmented_sort([1], ForeignGpuArray())


# --- Progress and cancellation --------------------------------------------------------------------


def test_progress_function_gets_phases():
    calls = []
    sortie.suffix_array(b"banana" * 1000, backend="host", progress=lambda *call: calls.append(call))
    assert calls
    for phase, done, total in calls:
        assert isinstance(phase, str) and phase
        assert 0 <= done and (total == 0 or done <= total)


def test_an_exception_of_the_progress_function_cancels():
    class Enough(Exception):
        pass

    def stop(_phase, _done, _total):
        raise Enough

    with pytest.raises(Enough):
        sortie.suffix_array(b"banana" * 1000, backend="host", progress=stop)
    assert sortie.suffix_array(b"ab").tolist() == [0, 1]


def test_the_progress_function_may_call_the_library():
    inner = []
    sortie.suffix_array(
        b"banana" * 1000,
        backend="host",
        progress=lambda *_: inner.append(sortie.sort([2, 1]).tolist()),
    )
    assert inner and all(result == [1, 2] for result in inner)


def test_interrupt_cancels_and_the_handler_is_restored():
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        sortie.suffix_array(
            b"banana" * 1000,
            backend="host",
            progress=lambda *_: signal.raise_signal(signal.SIGINT),
        )
    assert signal.getsignal(signal.SIGINT) is handler
    assert sortie.suffix_array(b"ab").tolist() == [0, 1]


def test_an_interrupt_handler_that_does_not_raise_is_called_and_work_is_cancelled():
    seen = []
    handler = signal.signal(signal.SIGINT, lambda number, _frame: seen.append(number))
    try:
        with pytest.raises(KeyboardInterrupt):
            sortie.suffix_array(
                b"banana" * 1000,
                backend="host",
                progress=lambda *_: signal.raise_signal(signal.SIGINT),
            )
    finally:
        signal.signal(signal.SIGINT, handler)
    assert seen == [signal.SIGINT]


def test_ctrl_c_from_outside_ends_long_work():
    code = (
        "import os, signal, sortie, threading, time\n"
        "import numpy as np\n"
        "text = np.random.default_rng(1).integers(97, 101, 30_000_000, dtype=np.uint8)\n"
        "threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "start = time.monotonic()\n"
        "try:\n"
        "    while time.monotonic() < start + 60: sortie.suffix_array(text, backend='host')\n"
        "    print('finished')\n"
        "except KeyboardInterrupt: print('cancelled after', time.monotonic() - start)\n"
    )
    ran = run_python(code)
    assert ran.returncode == 0 and ran.stderr == "", ran.stderr
    assert ran.stdout.startswith("cancelled after")


def test_bars_show_each_phase():
    class Tqdm:
        made: list[Tqdm] = []

        def __init__(self, desc, total, leave, unit_scale):
            self.desc, self.total, self.n, self.closed = desc, total, 0, False
            Tqdm.made.append(self)

        def update(self, step):
            self.n += step

        def close(self):
            self.closed = True

    bars = _progress.Bars(Tqdm)
    bars("read", 1, 4)
    bars("read", 4, 4)
    bars("sort", 5, 10)
    bars.close()
    assert [(bar.desc, bar.n, bar.total, bar.closed) for bar in Tqdm.made] == [
        ("read", 4, 4, True),
        ("sort", 5, 10, True),
    ]


def test_tqdm_shows_the_phases(monkeypatch, capsys):
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    monkeypatch.setattr(_progress, "_has_display", lambda: True)
    phases = []
    sortie.suffix_array(b"banana" * 1000, backend="host", progress=lambda phase, *_: phases.append(phase))
    sortie.suffix_array(b"banana" * 1000, backend="host", progress=True)
    shown = capsys.readouterr().err
    assert phases and all(phase in shown for phase in phases)


def test_nothing_is_shown_without_a_terminal(monkeypatch):
    monkeypatch.setattr(_progress, "_has_display", lambda: False)
    assert _progress.reporter(True) is None
    assert sortie.sort([2, 1], progress=True).tolist() == [1, 2]


# --- Threads and memory ---------------------------------------------------------------------------


def test_threads_use_contexts_of_their_own():
    rng = np.random.default_rng(3)
    inputs = [rng.integers(0, 1000, 20_000) for _ in range(8)]
    results = [None] * len(inputs)
    errors = [None] * len(inputs)

    def work(i):
        for _ in range(5):
            results[i] = sortie.sort(inputs[i])
            with pytest.raises(ValueError) as caught:
                sortie.segmented_sort(np.arange(i + 1), np.array([0, 100 + i]))
            errors[i] = str(caught.value)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, (keys, result) in enumerate(zip(inputs, results)):
        np.testing.assert_array_equal(result, np.sort(keys))
        assert str(100 + i) in errors[i]


@pytest.mark.parametrize("before", ["", "sortie.sort([2, 1])"], ids=["unused", "used"])
def test_a_forked_process_is_refused_if_the_library_was_used(before):
    code = (
        f"import os, sortie\n{before}\n"
        "if os.fork() == 0:\n"
        "    try: print(sortie.sort([2, 1]).tolist(), flush=True)\n"
        "    except sortie.Error as error: print(error, flush=True)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    ran = run_python(code)
    assert ran.returncode == 0, ran.stderr
    assert ("forked" in ran.stdout) if before else (ran.stdout == "[1, 2]\n")


def test_results_keep_the_memory_of_the_library_and_free_it(monkeypatch):
    freed = []
    destroy = _library.lib.sortie_array_destroy

    class Library:
        def __getattr__(self, name):
            return getattr(_library.lib, name)

        def sortie_array_destroy(self, pointer):
            freed.append(pointer.value)
            destroy(pointer)

    monkeypatch.setattr("sortie._memory.lib", Library())
    suffixes = sortie.suffix_array(b"banana")
    tail = suffixes[2:]
    del suffixes
    gc.collect()
    assert not freed
    assert tail.tolist() == [1, 0, 4, 2]
    del tail
    gc.collect()
    assert len(freed) == 1 and freed[0]


def test_arrays_of_results_are_those_of_the_library(monkeypatch, tmp_path):
    pointers = []

    class Library:
        def __getattr__(self, name):
            return getattr(_library.lib, name)

        def sortie_array_get(self, handle):
            view = _library.lib.sortie_array_get(handle)
            pointers.append(view.data)
            return view

    monkeypatch.setattr("sortie.suffixes.lib", Library())
    suffixes = sortie.suffix_array(b"banana")
    index = sortie.SuffixIndex(b"banana", suffixes=suffixes)
    assert suffixes.ctypes.data == pointers[0] and index.suffixes is suffixes
    assert sortie.lcp(b"banana", suffixes).ctypes.data == pointers[1]
    assert sortie.bwt(b"banana", suffixes).ctypes.data == pointers[2]
    assert index.locate("an").ctypes.data == pointers[3]
    assert suffixes.flags.writeable and suffixes.flags.aligned


def test_operands_are_not_copied(monkeypatch):
    seen = {}
    real = _context.call

    def call(name, settings, place, *arguments):
        seen[name] = arguments
        real(name, settings, place, *arguments)

    monkeypatch.setattr("sortie.sorting.call", call)
    keys = np.array([3, 1, 2])
    values = keys.astype(np.float64)
    out = np.empty_like(keys)
    moved = np.empty_like(values)
    sortie.sort(keys, values=values, out=(out, moved))
    operands = [keys.ctypes.data, out.ctypes.data, 3, values.ctypes.data, moved.ctypes.data]
    assert list(seen["sortie_sort"][2:7]) == operands
    sortie.sort(keys, out=keys)
    assert list(seen["sortie_sort"][2:4]) == [keys.ctypes.data] * 2
    block = np.array([4, 3, 2, 1])
    sortie.sort(block[:3], out=block[1:])  # the library takes no arrays that overlap
    source, target = seen["sortie_sort"][2:4]
    assert target == block[1:].ctypes.data and abs(source - target) >= block[1:].nbytes
    assert block.tolist() == [4, 2, 3, 4]
    sortie.argsort(keys)
    assert seen["sortie_argsort"][2] == keys.ctypes.data


def test_a_call_that_fails_leaves_nothing_to_free():
    handle = Handle("sortie_array_destroy")
    text = _library.Text(None, 5, None, 0, _library.HOST_MEMORY)
    with pytest.raises(ValueError):
        _context.call(
            "sortie_suffix_array",
            Settings({}),
            _context.HOST,
            text,
            _library.U32,
            handle.pointer,
        )
    assert not handle.pointer


def test_idle_contexts_are_reused():
    sortie.sort([2, 1])
    idle = list(_context._contexts.idle)
    for _ in range(3):
        sortie.sort([2, 1])
    assert _context._contexts.idle == idle
