"""Damaged Matrix Market files: evenly reads each as a slow, strict reader does, or refuses it in one line."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import numpy as np
import pytest

from evenly.errors import InputError
from evenly.interop import market_body
from evenly.interop.matrix_market import read

from .market_files import mutated, valid
from .market_oracle import TooLarge, parse


def check(path: Path, content: bytes) -> bool:
    """Check that evenly reads a file if and only if it is valid, and reads it right. Returns whether it did."""
    path.write_bytes(content)
    try:
        expected = parse(content)
    except TooLarge:
        with contextlib.suppress(InputError):
            read(path)
        return False
    try:
        matrix = read(path)
    except InputError as error:
        said = str(error)
        assert expected is None, (content, said)
        assert said.startswith(str(path)), said
        assert said.isprintable(), said
        return False
    assert expected is not None, (content, matrix.toarray())
    assert matrix.dtype == expected.dtype, content
    assert matrix.shape == expected.shape, content
    # Of numbers of one place the sum may be made in another order.
    np.testing.assert_allclose(matrix.toarray(), expected, rtol=1e-15, err_msg=repr(content))
    return True


def fuzz(folder: Path, seed: int, count: int) -> None:
    rng = random.Random(seed)
    path = folder / "a.mtx"
    with np.errstate(all="ignore"):
        right = sum(check(path, mutated(rng, valid(rng))) for _ in range(count))
    assert count / 20 < right < count * 19 / 20  # neither kind is rare


@pytest.fixture(params=["lines", "compiled"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read it as a large file, too: in pieces, by compiled code."""
    if request.param == "compiled":
        monkeypatch.setattr(market_body, "LARGE", 0)
        monkeypatch.setattr(market_body, "PIECE", 16)


@pytest.mark.usefixtures("way")
def test_valid_files(tmp_path: Path) -> None:
    rng = random.Random(0)
    with np.errstate(all="ignore"):
        for _ in range(200):
            content = valid(rng)
            if not check(tmp_path / "a.mtx", content):  # a sum of integers that overflows
                assert b"integer" in content


@pytest.mark.usefixtures("way")
def test_mutated_files(tmp_path: Path) -> None:
    fuzz(tmp_path, 1, 400)


@pytest.mark.slow
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("seed", range(2, 7))
def test_many_mutated_files(tmp_path: Path, seed: int) -> None:
    fuzz(tmp_path, seed, 7000)


def test_numbers_are_rounded_as_python_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(market_body, "LARGE", 0)
    rng = random.Random(3)
    words = []
    for _ in range(20_000):
        digits = "".join(rng.choices("0123456789", k=rng.randrange(1, 40)))
        point = rng.randrange(len(digits) + 1)
        exponent = f"e{rng.randrange(-330, 270)}" if rng.random() < 0.7 else ""
        words.append(f"{digits[:point]}.{digits[point:]}{exponent}")
    for _ in range(5_000):  # in the middle between two
        value = rng.randrange(2**53, 2**54) * 2 + 1
        words.append(
            f"{value}e0" if rng.random() < 0.5 else f"{value * 2.0 ** rng.randrange(-80, 80):.40g}"
        )
    path = tmp_path / "a.mtx"
    header = f"%%MatrixMarket matrix coordinate real general\n1 {len(words)} {len(words)}\n"
    lines = (f"1 {k} {word}\n" for k, word in enumerate(words, 1))
    path.write_text(header + "".join(lines))
    assert read(path).data.tolist() == [float(word) for word in words]
