# SPDX-License-Identifier: Apache-2.0
"""Puts libsortie.so, which CMake builds, into the wheel."""

import os
import re
import shutil
import sysconfig
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

here = Path(__file__).resolve().parent
root = here.parent.parent


def version() -> str:
    """The version of the project, from its CMakeLists.txt."""
    listing = (root / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r"project\(Sortie VERSION ([0-9.]+)", listing)
    if not found:
        raise SystemExit(f"no version of the project in {root / 'CMakeLists.txt'}")
    return found.group(1)


def library() -> Path:
    """SORTIE_LIBRARY, or the library in the build folder of the source tree."""
    named = os.environ.get("SORTIE_LIBRARY")
    path = Path(named) if named else root / "build" / "libsortie.so"
    if not path.is_file():
        raise SystemExit(
            f"{path} is not there. Build the shared library first (cmake --preset release &&"
            " cmake --build --preset release --target sortie_shared), or set the environment variable"
            " SORTIE_LIBRARY to its path."
        )
    return path


class BuildPy(build_py):
    def run(self) -> None:
        super().run()
        target = Path(self.build_lib) / "sortie" / "libsortie.so"
        shutil.copyfile(library(), target)  # follows links: the wheel has the file itself


class BinaryDistribution(Distribution):
    def has_ext_modules(self) -> bool:
        return True  # libsortie.so: not for any platform


class BdistWheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", sysconfig.get_platform().replace("-", "_").replace(".", "_")


setup(
    version=version(),
    distclass=BinaryDistribution,
    cmdclass={"build_py": BuildPy, "bdist_wheel": BdistWheel},
)
