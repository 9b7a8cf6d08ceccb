# SPDX-License-Identifier: Apache-2.0
"""The wheel, and the types."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import sortie
from sortie import _library

PACKAGE = Path(__file__).resolve().parents[1]


def has(module: str) -> bool:
    ran = subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True)
    return ran.returncode == 0


def wheel_command(target: Path) -> list[str]:
    command = f"-m pip wheel -q --no-build-isolation --no-deps --no-index -w {target} ."
    return [sys.executable, *command.split()]


needs_tools = pytest.mark.skipif(
    not (has("setuptools, wheel, pip") and (PACKAGE.parents[1] / "CMakeLists.txt").exists()),
    reason="pip, setuptools or wheel is missing, or this is not the source tree",
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A copy of the source tree, as far as the wheel needs it."""
    root = tmp_path / "source"
    ignored = shutil.ignore_patterns("__pycache__", "build", "*.egg-info", ".*", "libsortie.so")
    shutil.copytree(PACKAGE, root / "bindings" / "python", ignore=ignored)
    shutil.copy(PACKAGE.parents[1] / "CMakeLists.txt", root)
    return root / "bindings" / "python"


@needs_tools
@pytest.mark.skipif(not Path(_library.library_path).is_file(), reason="the library is not a file")
def test_the_wheel_works_by_itself(tmp_path, source):
    library = os.path.abspath(_library.library_path)
    environment = {**os.environ, "SORTIE_LIBRARY": library}
    subprocess.run(wheel_command(tmp_path), cwd=source, env=environment, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.startswith(f"sortie-{sortie.__version__}-py3-none-linux_")
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    assert (site / "sortie" / "py.typed").exists()
    del environment["SORTIE_LIBRARY"]
    environment["PYTHONPATH"] = str(site)
    ran = subprocess.run(
        [sys.executable, "-m", "sortie", "info"],
        cwd=tmp_path,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    assert str(site / "sortie" / "libsortie.so") in ran.stdout


@needs_tools
def test_a_wheel_without_the_library_says_what_is_missing(tmp_path, source):
    environment = {key: value for key, value in os.environ.items() if key != "SORTIE_LIBRARY"}
    ran = subprocess.run(
        wheel_command(tmp_path), cwd=source, env=environment, capture_output=True, text=True
    )
    assert ran.returncode != 0
    assert "libsortie.so is not there. Build the shared library first" in ran.stderr + ran.stdout


@pytest.mark.skipif(not has("mypy"), reason="mypy is not installed")
def test_types(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), "sortie"],
        cwd=PACKAGE,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout


def test_public_names_are_documented():
    for name in sortie.__all__:
        assert getattr(sortie, name).__doc__, name
