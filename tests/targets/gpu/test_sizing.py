"""The buffers of a phase that hold zeros between launches lie one after the other."""

from __future__ import annotations

from evenly.targets.gpu.sizing import ONE, Buffer, Sizing


def test_buffers_of_zeros_do_not_overlap() -> None:
    kinds = ("flags", 300, "zeros"), ("mail", 1000, "run"), ("count", 8, "zeros"), ("words", 256, "zeros")  # fmt: skip
    buffers = tuple(Buffer(name, nbytes, 4, holds) for name, nbytes, holds in kinds)
    found = Sizing({"tiles": ONE}, {}, buffers).zeros()
    assert found == {"flags": (0, 300), "count": (512, 520), "words": (768, 1024)}
    assert Sizing({"tiles": ONE}, {}).zeros() == {}
