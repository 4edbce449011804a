"""Random Matrix Market files, valid ones and damaged ones."""

from __future__ import annotations

import random
import re

FIELDS = ("real", "integer", "unsigned-integer", "complex", "pattern")
SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
REALS = (
    "1", "-2.5", "0", "1e3", "-1.5E-3", "0.1", ".5", "5.", "inf", "-inf", "nan", "1e308",
    "4.9e-324", "1e-400", "0.30000000000000004", "123456789012345678901234567890",
    "0.1000000000000000055511151231257827", "9007199254740993", "2.2250738585072011e-308",
    "1.7976931348623157e308", "-0.0", "000123.4500", "179769313486231570000e288",
)  # fmt: skip
INTEGERS = ("0", "1", "-7", "12", "9223372036854775807", "-9223372036854775808", "00042")
UNSIGNED = ("0", "1", "7", "18446744073709551615", "9223372036854775808")
SPLICED = (
    b"\0", b" ", b"\t", b"\r", b"\n", b"\r\n", b"+", b"-", b".", b",", b"e", b"E", b"x", b"0x", b"%",
    b"d", b"n", b"i", b"inf", b"nan", b"1e999", b"-1e999", b"9" * 25, b"\xff", b"\x0b", b"\x0c",
    b"\xa0", b"\x85", b"\x1a", b"_", b"1_0", b"%%MatrixMarket", b"0" * 30, b"1.5", b"2", b"/", b"(",
)  # fmt: skip


def valid(rng: random.Random) -> bytes:
    """A file that is right."""
    format = rng.choice(("coordinate", "coordinate", "array"))
    field = rng.choice(FIELDS[: 4 if format == "array" else 5])
    choices = {"complex": SYMMETRIES, "real": SYMMETRIES[:3], "integer": SYMMETRIES[:3]}
    symmetry = rng.choice(choices.get(field, SYMMETRIES[:2]))
    columns = rng.choice((0, 1, 2, 3, 4, 5))
    rows = columns if symmetry != "general" else rng.choice((0, 1, 2, 3, 5))
    places = [
        (row, column)
        for column in range(1, columns + 1)
        for row in range(1, rows + 1)
        if symmetry == "general" or row > column - (symmetry != "skew-symmetric")
    ]
    if format == "coordinate":
        places = [rng.choice(places) for _ in range(rng.randrange(6))] if places else []
    lines = []
    for row, column in places:
        numbers = number(rng, field, symmetry, row == column)
        place = [str(row), str(column)] if format == "coordinate" else []
        lines.append(rng.choice((" ", "  ", "\t")).join(place + numbers))
    sizes = [rows, columns] + [len(places)] * (format == "coordinate")
    banner = f"%%MatrixMarket matrix {format} {field} {symmetry}"
    comments = rng.choice(([], ["% a comment"], ["%", "", "% caf\xe9"]))
    if rng.random() < 0.2:
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(("", " ", "\t ")))
    all_lines = [banner, *comments, " ".join(map(str, sizes)), *lines]
    end = rng.choice(("\n", "\n", "\r\n"))
    return (end.join(all_lines) + rng.choice((end, end, ""))).encode("latin-1")


def number(rng: random.Random, field: str, symmetry: str, diagonal: bool) -> list[str]:
    if field == "pattern":
        return []
    if field == "integer":
        return [rng.choice(INTEGERS[:5] if symmetry == "skew-symmetric" else INTEGERS)]
    if field == "unsigned-integer":
        return [rng.choice(UNSIGNED)]
    random_real = repr(rng.uniform(-1, 1) * 10 ** rng.randrange(-30, 30))
    first = rng.choice((*REALS, random_real))
    if field == "real":
        return [first]
    return [first, "0" if symmetry == "hermitian" and diagonal else rng.choice(REALS)]


def mutated(rng: random.Random, content: bytes) -> bytes:
    """A file with up to three mistakes."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        content = rng.choice(MUTATIONS)(rng, content)
    return content


def flip(rng: random.Random, content: bytes) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]


def splice(rng: random.Random, content: bytes) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + rng.choice(SPLICED) + content[at + rng.choice((0, 1)) :]


def delete(rng: random.Random, content: bytes) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + content[at + rng.randrange(1, 5) :]


def truncate(rng: random.Random, content: bytes) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def swap_fields(rng: random.Random, content: bytes) -> bytes:
    parts = re.split(rb"([ \t\r\n]+)", content)
    a, b = rng.randrange(len(parts)), rng.randrange(len(parts))
    parts[a], parts[b] = parts[b], parts[a]
    return b"".join(parts)


def another_field(rng: random.Random, content: bytes) -> bytes:
    parts = re.split(rb"([ \t\r\n]+)", content)
    parts[rng.randrange(len(parts))] = rng.choice((*REALS, *INTEGERS, *FIELDS, "6", "")).encode()
    return b"".join(parts)


def repeat_line(rng: random.Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    return b"\n".join(lines)


def other_case(rng: random.Random, content: bytes) -> bytes:
    return content.upper() if rng.random() < 0.5 else content.lower()


MUTATIONS = (
    flip, splice, splice, delete, truncate, swap_fields, another_field, repeat_line, other_case,
)  # fmt: skip
