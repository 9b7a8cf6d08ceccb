# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/python.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sortie

PAGE = Path(__file__).resolve().parents[3] / "docs" / "python.md"


def examples() -> list[tuple[str, str]]:
    if not PAGE.exists():
        return []
    found = re.findall(r"([^\n]+)\n\n```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return [(re.sub(r"\W+", "-", title)[:40], code) for title, code in found]


@pytest.mark.skipif(not PAGE.exists(), reason="docs/python.md is not in this folder")
def test_there_are_examples():
    assert len(examples()) == PAGE.read_text(encoding="utf-8").count("```python") >= 6


@pytest.mark.parametrize("code", [pytest.param(code, id=title) for title, code in examples()])
def test_example(code, monkeypatch, tmp_path):
    for module in re.findall(r"^import (\w+)", code, re.MULTILINE):
        pytest.importorskip(module, reason=f"{module} is not installed")
    if "cupy" in code and not sortie.info().devices:
        pytest.skip(f"the library finds no GPU: {sortie.info().why_no_device}")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, str(PAGE), "exec"), {})
