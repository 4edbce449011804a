"""The primitives have two implementations with the same names, and a page that lists them for a third."""

from __future__ import annotations

import re
from pathlib import Path

from evenly.targets.gpu import headers
from evenly.targets.simt.compiler import HOST

PAGE = Path(__file__).resolve().parents[3] / "docs" / "simt.md"
CUDA = (headers.FOLDER / "gpu.cuh").read_text()
BUILTINS = re.compile(
    r"\b(?:threadIdx|blockIdx|blockDim|gridDim|__\w+_sync|__sync\w+|__threadfence\w*|atomic[A-Z]\w+|asm)\b"
)


def cudas_own() -> str:
    """The part of the header that another implementation replaces."""
    own, found, _ = CUDA.partition("#endif  // EV_HOST")
    assert found
    return own


def primitives() -> set[str]:
    functions = re.findall(r"EV_DEVICE [\w<>:&\s]*?(\w+)\(", cudas_own())
    members = {"in", "out", "once"}  # of views: constructors and a load
    return (set(functions) | set(re.findall(r"#define (\w+)", cudas_own()))) - members


def test_there_are_some() -> None:
    assert {
        "thread_rank",
        "barrier",
        "shuffle_down",
        "ballot",
        "atomic_add",
        "EV_SHARED",
    } <= primitives()
    assert len(primitives()) > 35


def test_the_host_has_them_all() -> None:
    host = "".join((HOST / name).read_text() for name in ("gpu_host.hpp", "atomics.hpp"))
    assert not {name for name in primitives() if not re.search(rf"\b{name}\b", host)}


def test_the_page_lists_them_all() -> None:
    text = PAGE.read_text()
    section = text[text.index("## Another vendor's back end") :]
    assert not primitives() - set(re.findall(r"`(\w+)", section))


def test_no_other_header_names_a_builtin_of_cuda() -> None:
    assert BUILTINS.search(cudas_own())
    for path in headers.FOLDER.glob("*.cuh"):
        text = CUDA.replace(cudas_own(), "") if path.name == "gpu.cuh" else path.read_text()
        code = re.sub(r"//.*", "", text)
        assert not BUILTINS.search(code), path.name
