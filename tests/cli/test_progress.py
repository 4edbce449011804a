"""A spinner on a terminal, after a second; nothing elsewhere."""

from __future__ import annotations

import io
import sys
import time

import pytest

from evenly.cli import progress
from evenly.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def become_terminal(monkeypatch) -> Terminal:
    """Not a fixture: pytest sets sys.stderr itself between fixtures and test."""
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setenv("TERM", "xterm")
    return made


def test_on_a_terminal(monkeypatch):
    terminal = become_terminal(monkeypatch)
    monkeypatch.setattr(progress, "AFTER", 0.02)
    with Progress("reading [red]a.mtx") as shown:
        time.sleep(0.4)
        shown.say("compiling [b]")
        time.sleep(0.3)
    assert "reading [red]a.mtx" in terminal.getvalue()
    assert "compiling [b]" in terminal.getvalue()


def test_not_within_the_first_second(monkeypatch):
    terminal = become_terminal(monkeypatch)
    with Progress("reading") as shown:
        shown.say("compiling")
    assert terminal.getvalue() == ""


def test_not_elsewhere(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "AFTER", 0.01)
    with Progress("reading"):
        time.sleep(0.1)
    assert stream.getvalue() == ""


def test_it_is_gone_after_an_error(monkeypatch):
    terminal = become_terminal(monkeypatch)
    monkeypatch.setattr(progress, "AFTER", 0.01)

    def fails():
        with Progress("reading"):
            time.sleep(0.2)
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    written = terminal.getvalue()
    time.sleep(0.2)
    assert terminal.getvalue() == written
