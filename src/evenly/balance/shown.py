"""What `plan.profile()` returns has a picture, as a file or in a notebook."""

from __future__ import annotations

from typing import Any


class Shown:
    """A balance that can be drawn."""

    def _figure(self) -> Any:
        """Return the picture as a `matplotlib.figure.Figure`."""
        raise NotImplementedError

    def save(self, path: Any) -> None:
        """Draw it to a file, PNG or SVG by its suffix.

        Raises InputError for another suffix, UnavailableError without Matplotlib.
        """
        from .pictures import DPI, check_path

        check_path(path)
        self._figure().savefig(path, dpi=DPI)

    def _repr_svg_(self) -> str | None:
        """Return the picture for a notebook, which shows the text if there is no Matplotlib."""
        from .pictures import available, text_of

        return text_of(self._figure()) if available() else None
