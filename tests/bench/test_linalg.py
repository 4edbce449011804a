"""`evenly bench linalg` on the CPU: products with a small matrix, times, a file and a status."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from evenly.bench.contender import Contender, LeftOut
from evenly.bench.cpu import CpuBench
from evenly.bench.linalg import products
from evenly.bench.linalg.case import Case, matrix_of
from evenly.bench.linalg.products import PRODUCTS, host_result
from evenly.bench.matrices import Source
from evenly.interop import generators

EXAMPLES = Path(__file__).parents[2] / "examples"
FEW = ("--target", "cpu", "--rounds", 1, "--only", "karate")


@pytest.mark.parametrize("product", PRODUCTS)
def test_times_of_all(evenly, tmp_path, product):
    path = tmp_path / "times.csv"
    widths = ("--columns", 3, "--columns", 8)
    ran = evenly("bench", "linalg", EXAMPLES, *FEW, *widths, "--product", product, "--csv", path)
    assert (ran.status, ran.err) == (0, "")
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert {row["columns"] for row in rows} == ({"0"} if product == "spgemm" else {"3", "8"})
    others = {"NumPy, einsum"} if product == "sddmm" else {"SciPy"}
    assert {row["contender"] for row in rows} == {"auto"} | others
    assert all(row["wrong"] == "0" and float(row["us"]) > 0 for row in rows)
    assert ran.lines[1].startswith(f"{product}; of copying: ")
    assert " us (" in ran.lines[2] and "% of copying" in ran.lines[2]
    assert "in the geometric mean of 1" in ran.out


@pytest.mark.parametrize("product", PRODUCTS)
def test_one_wrong_entry_is_found(product):
    source = Source("r", "synthetic", lambda: generators.uniform(50, 4))
    case = Case(CpuBench(), source, matrix_of(source, "float64"), 5)
    errors = PRODUCTS[product].checked(case)
    for who in PRODUCTS[product].contenders(case):
        assert isinstance(who, Contender), who
        found = host_result(who.launch())
        assert errors(found) == 0
        entries = found.data if product == "spgemm" else found.reshape(-1)
        entries[7] += 1e-9
        assert errors(found) == 1
        entries[7] = np.nan
        assert errors(found) == 1


def test_a_wrong_result_is_told(evenly, monkeypatch):
    monkeypatch.setattr(products, "_einsum", lambda case, X, Z: 1.01 * (X @ Z.T)[case.row_of, case.matrix.indices])  # fmt: skip
    ran = evenly("bench", "linalg", EXAMPLES, *FEW, "--columns", 4, "--product", "sddmm")
    assert ran.status == 1
    assert "WRONG: 156" in ran.out


def test_what_refuses_a_matrix_is_left_out(evenly, monkeypatch):
    def absent(case):
        yield LeftOut("nobody", "not installed")

    of = PRODUCTS["spmm"]
    monkeypatch.setitem(PRODUCTS, "spmm", type(of)(of.generated, absent, of.checked, of.moved))
    ran = evenly("bench", "linalg", EXAMPLES, *FEW, "--columns", 4)
    assert ran.status == 0 and "left out: nobody (not installed)" in ran.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--product", "spmmm"), "--product: expected"),
        (("--dtype", "float16"), "--dtype: expected"),
        (("--columns", 0), "--columns: expected 1 to 4096, got 0"),
        (("--only", "nothing"), "--only: expected"),
        (("--target", "simt"), "--target: expected"),
    ],
)
def test_mistakes(evenly, options, said):
    ran = evenly("bench", "linalg", *options)
    assert ran.status == 2
    assert said in ran.err and len(ran.err.splitlines()) == 1


@pytest.mark.parametrize("ending", [".mtx", ".npz"])
def test_complex_matrices_are_left_out_by_name(evenly, tmp_path, ending):
    made = sp.csr_array(np.array([[1 + 2j, 0], [0, 3]]))
    (scipy.io.mmwrite if ending == ".mtx" else sp.save_npz)(tmp_path / f"turned{ending}", made)
    ran = evenly("bench", "linalg", tmp_path, "--target", "cpu", "--only", "turned")
    said = "turned: expected real values, for float32, got complex ones; hint: evenly spmm FILE --dtype complex64 measures one"
    assert ran.status == 2 and said in ran.err
