"""Lists of unequal length: their elements are one tensor, one list after the other."""

from __future__ import annotations

from typing import Any

import torch

from evenly.errors import InputError
from evenly.layouts.ragged import ragged
from evenly.torch_operators.launching import Segments


class Lists:
    """Where lists begin and end: list t has the elements offsets[t] .. offsets[t + 1] - 1.

    It keeps the schedule of each kernel. offsets: (m + 1,), int32 or int64, on the device of the elements.
    """

    def __init__(self, offsets: Any) -> None:
        """Make lists of their offsets. They are checked. Raises InputError if they are malformed."""
        if not isinstance(offsets, torch.Tensor):
            given = type(offsets).__name__
            raise InputError("offsets", expected="a tensor", given=given)
        self.offsets = offsets.detach().contiguous()
        self.num_elements = int(ragged(self.offsets, name="Lists").num_atoms)
        self._segments = Segments(self.offsets, self.num_elements)
        if self.offsets.is_cuda:  # compiled graphs of CUDA read them where they lie
            torch._dynamo.mark_static_address(self.offsets, guard=False)

    @property
    def num_lists(self) -> int:
        return len(self.offsets) - 1

    def to(self, device: Any) -> Lists:
        """Return the lists on another device; themselves if they are there."""
        moved = self.offsets.to(device)
        return self if moved is self.offsets else Lists(moved)

    def __reduce__(self) -> Any:
        return Lists, (self.offsets,)

    def __repr__(self) -> str:
        count = f"{self.num_lists} of {self.num_elements} elements"
        return f"<Lists: {count} on {self.offsets.device}>"
