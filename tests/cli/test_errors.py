"""Bad input: status 2, one line on stderr, nothing on stdout, no traceback."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from evenly import targets
from evenly.cli.failures import OUR_MISTAKE, said
from evenly.errors import InternalError
from evenly.schedules import TABLE as SCHEDULES
from tests.kernels import MATRIX_LAYOUTS

HEADER = "%%MatrixMarket matrix coordinate real general\n"
HINT = "; hint: it begins with '%%MatrixMarket matrix coordinate real general'"
FILES = {
    "empty.mtx": (b"", ": expected a Matrix Market file, got an empty file"),
    "other.mtx": (b"hello\n", ": line 1: expected a Matrix Market file, got 'hello'" + HINT),
    "truncated.mtx": (HEADER + "3 3 3\n1 1 1.0\n", ": line 3: expected 3 entries, as line 2 says, got 1: is it truncated?"),
    "cut.mtx": (HEADER + "3 3 2\n1 1 1.0\n2 2 -2e", ": line 4: expected a row, a column and a real number, got '2 2 -2e'"),
    "range.mtx": (HEADER + "3 3 1\n4 1 1.0\n", ": line 3: expected a row in 1 .. 3, got '4'"),
    "zero.mtx": (HEADER + "3 3 1\n0 1 1.0\n", ": line 3: expected a row in 1 .. 3, got '0'"),
    "letters.mtx": (HEADER + "3 3 1\n1 x 1.0\n", ": line 3: expected a row, a column and a real number, got '1 x 1.0'"),
    "no_sizes.mtx": (HEADER, ": line 1: expected rows, columns and entries after the comments, got the end of the file"),
    "negative.mtx": (HEADER + "-3 3 1\n1 1 1.0\n", ": line 2: expected rows, columns and entries as 3 integers, got '-3 3 1'"),
    "complex.mtx": (HEADER.replace("real", "complex") + "1 1 1\n1 1 1 1\n", ": expected real values, for float32, got complex ones; hint: --dtype complex64"),
    "huge.mtx": (HEADER + "1000000000000 3 1\n1 1 1.0\n", ": expected a matrix that fits into this machine's "),
    "huger.mtx": (HEADER + "99999999999999999999999 3 1\n1 1 1.0\n", ": line 2: expected rows, columns and entries as 3 integers, got "),
    "large.mtx": (HEADER + "1 1 1\n1 1 1e300\n", ": expected values in the range of float32, got 1 beyond it, such as 1e+300; hint: --dtype float64"),
    "plain.mtx.gz": (HEADER + "1 1 1\n1 1 1\n", ": expected a file that can be read, got a damaged one (Not a gzipped file (b'%%'))"),
    "cut.mtx.gz": (b"\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x03a\x00\xb3", ": expected a whole compressed file, got a truncated one"),
    "binary.mtx": (bytes(range(256)), ": line 1: expected a Matrix Market file, got "),
}  # fmt: skip


def refused(ran, line: str) -> None:
    """Status 2 and one line that begins with `line`."""
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert ran.err.startswith(f"evenly: {line}"), ran.err


@pytest.mark.parametrize("name", FILES)
def test_files(evenly, tmp_path, name):
    content, message = FILES[name]
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(evenly("spmv", path, "--validate"), f"{path}{message}")


def test_large_values_fit_into_float64(evenly, tmp_path):
    path = tmp_path / "large.mtx"
    path.write_text(FILES["large.mtx"][0])
    assert evenly("spmv", path, "--dtype", "float64", "--validate").status == 0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_types_that_cannot_hold_a_file(evenly, tmp_path, dtype):
    path = tmp_path / "a.mtx"
    path.write_text(FILES["complex.mtx"][0])
    hint = "; hint: --dtype complex64\n"
    ran = evenly("spmv", path, "--dtype", dtype)
    refused(ran, f"{path}: expected real values, for {dtype}, got complex ones{hint}")
    if dtype != "float64":
        path.write_text(FILES["large.mtx"][0])
        ran = evenly("spmv", path, "--dtype", dtype)
        refused(ran, f"{path}: expected values in the range of {dtype}, got 1 beyond it")


def test_places_without_a_file(evenly, tmp_path):
    missing = tmp_path / "missing.mtx"
    refused(evenly("spmv", missing), f"{missing}: expected a Matrix Market file, got no such file")
    refused(evenly("spmv", tmp_path), f"{tmp_path}: expected a Matrix Market file, got a directory")
    refused(evenly("spmv", ""), "FILE: expected a path, got an empty one")
    saved = tmp_path / "missing.npz"
    line = f"{saved}: expected a matrix of scipy.sparse.save_npz, got no such file"
    refused(evenly("spmv", saved), line)
    refused(evenly("tune", saved), line)
    refused(evenly("spmv", "two\nlines.mtx"), "two lines.mtx: expected a Matrix Market file")
    refused(evenly("spmv", "[red]x.mtx"), "[red]x.mtx: expected a Matrix Market file")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(evenly, small, tmp_path):
    path = tmp_path / "secret.mtx"
    path.write_text(small.read_text())
    path.chmod(0)
    refused(
        evenly("spmv", path), f"{path}: expected a file that can be read, got Permission denied"
    )


OPTIONS = {
    "--schedule merge": f"--schedule: expected one of {', '.join(sorted(['all', 'auto', 'tuned', *SCHEDULES]))}, got 'merge'; hint: did you mean 'merge_path'?",
    "--layout crs": f"--layout: expected one of {', '.join(sorted(MATRIX_LAYOUTS))}, got 'crs'; hint: did you mean 'csr'?",
    "--layout ragged": f"--layout: expected one of {', '.join(sorted(MATRIX_LAYOUTS))}, got 'ragged'",
    "--target cdua": f"--target: expected one of {', '.join(sorted(['auto', *targets.TABLE]))}, got 'cdua'; hint: did you mean 'cuda'?",
    "--dtype int8": "--dtype: expected one of bfloat16, complex128, complex64, float16, float32, float64, got 'int8'",
    "--repeat 0": "--repeat: expected 1 or more, got 0",
    "--repeat -3": "--repeat: expected 1 or more, got -3",
    "--repeat many": "invalid value for '--repeat': expected an integer; `evenly spmv --help`",
    "--schedul all": "no such option: --schedul",
    "--csv": "option '--csv' requires an argument",
    "more": "got unexpected extra argument(s) (more)",
}  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS)
def test_options(evenly, small, options):
    refused(evenly("spmv", small, *options.split()), OPTIONS[options])


def test_an_unknown_option_names_the_nearest(evenly, small):
    assert "--schedule" in evenly("spmv", small, "--schedul", "all").err.replace("--schedul ", "")


COMMANDS = {
    "spvm x": "no such command 'spvm'",
    "--verbose": "no such option: --verbose",
    "spmv": "missing argument 'FILE'",
    "info now": "got unexpected extra argument(s) (now)",
    "demo --target python": "--target: expected one of auto, cpu, cuda, got 'python'",
    "demo --scale 99": "--scale: expected 4 to 24, got 99",
    "demo --repeat 0": "--repeat: expected 1 or more, got 0",
}


@pytest.mark.parametrize("line", COMMANDS)
def test_commands(evenly, line):
    refused(evenly(*line.split()), COMMANDS[line])


def test_an_unknown_command_names_the_nearest(evenly):
    assert "'spmv'" in evenly("spvm").err


@pytest.mark.parametrize("layout", ["ell", "dia"])
def test_a_layout_that_would_blow_up(evenly, tmp_path, layout):
    n = 40_000  # an anti-diagonal and a full row
    entries = [f"{i} {n + 1 - i} 1" for i in range(1, n + 1)] + [f"1 {j} 1" for j in range(1, n)]
    path = tmp_path / "arrow.mtx"
    path.write_text(f"{HEADER}{n} {n} {len(entries)}\n" + "\n".join(entries) + "\n")
    ran = evenly("spmv", path, "--layout", layout)
    refused(
        ran, f"{path}: expected {layout.upper()} of at most 1.0 GiB (1,073,741,824 bytes), got "
    )
    assert ran.err.endswith("; hint: --layout csr\n")


def test_too_much_for_python(evenly, tmp_path, monkeypatch):
    path = tmp_path / "m.mtx"
    path.write_text(HEADER + "4000000 4 1\n1 1 1\n")
    refused(
        evenly("spmv", path, "--target", "python"),
        f"{path}: expected at most 10,000,000 tiles and atoms on target 'python', which is slow, "
        "got 12,000,003 in 3 runs; hint: --target cpu",
    )


@pytest.mark.skipif("config.getoption('-m') == 'gpu'")
def test_a_target_that_is_not_there(evenly, small, monkeypatch):
    from evenly import targets
    from evenly.errors import UnavailableError

    known = targets.get

    def get(name):
        if name == "cuda":
            raise UnavailableError("target 'cuda'", "no NVIDIA driver", "install it")
        return known(name)

    monkeypatch.setattr(targets, "get", get)
    line = "target 'cuda': no NVIDIA driver; to get it: install it"
    refused(evenly("spmv", small, "--target", "cuda"), line)
    refused(evenly("demo", "--target", "cuda", "--scale", "4"), line)
    assert evenly("spmv", small, "--schedule", "merge_path").status == 0


class TestCsv:
    """A file that cannot be appended to is an error before any work is done."""

    def test_places(self, evenly, small, tmp_path):
        path = tmp_path / "missing" / "a.csv"
        line = "expected a CSV file to append to, got"
        refused(evenly("spmv", small, "--csv", path), f"{path}: {line} no such file or directory")
        refused(evenly("spmv", small, "--csv", tmp_path), f"{tmp_path}: {line} a directory")
        refused(evenly("spmv", small, "--csv", ""), "--csv: expected a path, got an empty one")

    def test_other_files(self, evenly, small, tmp_path):
        path = tmp_path / "other.csv"
        path.write_text("a,b\n1,2\n")
        line = f"{path}: expected a CSV file that begins with kernel,dataset,rows,cols,nnzs,elapsed"
        refused(evenly("spmv", small, "--csv", path), f"{line}, got 'a,b'")
        assert path.read_text() == "a,b\n1,2\n"
        path.write_bytes(b"\xff\xfe\x00")
        line = f"{path}: expected a CSV file to append to, got a file that is no text"
        refused(evenly("spmv", small, "--csv", path), line)

    def test_nothing_is_left_where_the_matrix_is_bad(self, evenly, tmp_path):
        path = tmp_path / "times.csv"
        assert evenly("spmv", tmp_path / "missing.mtx", "--csv", path).status == 2
        assert not path.exists()

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
    def test_a_full_disk(self, evenly, small):
        ran = evenly("spmv", small, "--schedule", "merge_path", "--csv", "/dev/full")
        assert ran.status == 2
        assert (
            ran.err
            == "evenly: /dev/full: expected a CSV file to append to, got no space left on device\n"
        )


def test_our_own_mistakes_are_one_line_too(evenly, small, monkeypatch):
    from evenly.cli import spmv

    def broken(*_):
        raise KeyError("k")

    monkeypatch.setattr(spmv, "measure", broken)
    ran = evenly("spmv", small)
    assert ran.status == OUR_MISTAKE
    assert (
        ran.err
        == "evenly: KeyError: 'k' (a mistake of evenly's own: EVENLY_TRACEBACK=1 shows where)\n"
    )
    monkeypatch.setenv("EVENLY_TRACEBACK", "1")
    assert "Traceback" in evenly("spmv", small).err


def test_what_is_said_of_other_errors():
    assert said(MemoryError()) == ("not enough memory (none is left)", 2)
    error = OSError(errno.EACCES, "Permission denied", "a.mtx")
    assert said(error) == ("a.mtx: Permission denied", 2)
    assert said(InternalError("two\nlines"))[1] == OUR_MISTAKE


def test_an_interrupt_is_quiet(evenly, small, monkeypatch):
    from evenly.cli import spmv

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(spmv, "measure", interrupted)
    ran = evenly("spmv", small)
    assert (ran.status, ran.out, ran.err) == (130, "", "")


@pytest.mark.parametrize(
    ("picture", "line"),
    {
        "": "--picture: expected a path, got an empty one",
        "a.pdf": "--picture: expected a file that ends in .png or .svg, got 'a.pdf'",
        "missing/a.svg": "--picture: expected a file in a folder that exists, got 'missing/a.svg'",
    }.items(),
)
def test_pictures(evenly, small, tmp_path, monkeypatch, picture, line):
    monkeypatch.chdir(tmp_path)
    refused(evenly("spmv", small, "--picture", picture), line)
