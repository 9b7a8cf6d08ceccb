# SPDX-License-Identifier: Apache-2.0
"""The declarations against the header, and how the library is found."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sortie
from sortie import _library

HEADER = Path(__file__).resolve().parents[3] / "include" / "sortie" / "sortie.h"
STRUCTURES = {
    "sortie_device_info": _library.DeviceInfo,
    "sortie_segments": _library.Segments,
    "sortie_array_view": _library.ArrayView,
    "sortie_csr_view": _library.CsrView,
    "sortie_text": _library.Text,
    "sortie_patterns": _library.Patterns,
    "sortie_matrix_header": _library.MatrixHeader,
}

needs_header = pytest.mark.skipif(not HEADER.exists(), reason="sortie.h is not in this folder")


def header_text() -> str:
    return re.sub(r"/\*.*?\*/", "", HEADER.read_text(encoding="utf-8"), flags=re.DOTALL)


@needs_header
def test_every_function_of_the_header_is_declared():
    functions = dict(re.findall(r"SORTIE_C_API[^;]*?(sortie_\w+)\(([^)]*)\)", header_text()))
    assert functions.keys() == _library._FUNCTIONS.keys()
    for name, parameters in functions.items():
        count = 0 if parameters.strip() in ("", "void") else parameters.count(",") + 1
        assert len(_library._FUNCTIONS[name][1]) == count, name


@needs_header
def test_constants_are_those_of_the_header():
    constants = dict(re.findall(r"SORTIE_(\w+) = (\d+)", header_text()))
    constants.update(re.findall(r"define SORTIE_(INTERFACE_VERSION) (\d+)", header_text()))
    names = {"BACKEND_AUTOMATIC": "auto", "BACKEND_CUDA": "cuda", "BACKEND_HOST": "host"}
    assert len(constants) == 34
    for name, value in constants.items():
        found = _library.BACKENDS[names[name]] if name in names else getattr(_library, name)
        assert found == int(value), name


@needs_header
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_structures_have_the_layout_of_the_header(tmp_path):
    lines = ["#include <stdio.h>", "#include <sortie/sortie.h>", "int main(void) {"]
    expected = []
    for name, structure in STRUCTURES.items():
        lines.append(f'printf("%zu\\n", sizeof({name}));')
        expected.append(ctypes.sizeof(structure))
        for field, *_ in structure._fields_:
            lines.append(f'printf("%zu\\n", offsetof({name}, {field}));')
            expected.append(getattr(structure, field).offset)
    source = tmp_path / "layout.c"
    source.write_text("\n".join([*lines, "return 0; }"]))
    program = tmp_path / "layout"
    subprocess.run(["cc", "-I", HEADER.parents[1], source, "-o", program], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    assert list(map(int, printed.split())) == expected


def test_another_interface_version_is_refused(monkeypatch):
    monkeypatch.setattr(_library, "INTERFACE_VERSION", 99)
    with pytest.raises(ImportError, match="has version 1 .* written for version 99"):
        _library.open_library(_library.library_path)


def test_a_library_without_the_interface_is_refused():
    with pytest.raises(ImportError, match="without the C interface"):
        _library.open_library("libc.so.6")


def test_import_without_a_library_says_where_it_was_looked_for(tmp_path):
    missing = str(tmp_path / "libsortie.so")
    environment = {**os.environ, "SORTIE_LIBRARY": missing}
    environment["PYTHONPATH"] = str(Path(sortie.__file__).parents[1])
    ran = subprocess.run(
        [sys.executable, "-c", "import sortie"], env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 1
    assert "ImportError: libsortie.so was not found" in ran.stderr
    assert missing in ran.stderr


def test_info():
    found = sortie.info()
    assert found.version == sortie.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", found.version)
    assert found.interface_version == 1
    assert bool(found.why_no_device) == (not found.devices)
    assert found.version in str(found)
    assert found.as_dict()["library"] == _library.library_path


def test_info_command(capsys):
    from sortie.__main__ import main

    assert main(["info"]) == 0
    assert capsys.readouterr().out == f"{sortie.info()}\n"
    assert main(["info", "--json"]) == 0
    assert '"interface_version": 1' in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([])
