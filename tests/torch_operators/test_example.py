"""The example of a graph attention network: it learns, as PyTorch's own operators do, with the same bits each time."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

pytest.importorskip("torch")
FOLDER = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_graph_attention(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    importlib.import_module("graph_attention").main(scale=7, device=device)
