"""Turn CUDA C++ as users write it into C++ for the host: kernels' names, shared memory, headers that the toolkit has.

Names of CUDA (threadIdx, __syncthreads, atomicAdd, cuda::atomic_ref) are in host/cuda_names.hpp. Lines keep their
numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
INCLUDE = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*<(?:cuda/[\w/.]+|cuda\w*\.h|cassert|assert\.h)>", re.MULTILINE
)
EVENLY = re.compile(r"\bEV_KERNEL\s*\(\s*(\w+)\s*(?:,[^)]*)?\)\s+(\w+)\s*\(")
CUDA = re.compile(
    r"\b__global__\s+(?:static\s+)?(?:void\s+)?(?:__launch_bounds__\s*\(\s*(\w+)[^)]*\)\s*)?(?:void\s+)?(\w+)\s*\("
)
SHARED = re.compile(
    r"\b(extern\s+)?__shared__\s+(?:__align__\s*\(\s*\w+\s*\)\s*|alignas\s*\([^)]*\)\s*)?([^;{}=]+);"
)
DECLARED = re.compile(r"(\w+)\s*((?:\[[^\]]*\]\s*)*)$")


@dataclass(frozen=True, slots=True)
class Kernel:
    """The most threads of a block, a number or a name, and the texts of the parameters."""

    bound: str
    parameters: list[str]


def without_comments(text: str) -> str:
    """Return the text with blanks for comments, so that places in it stay the same."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0])

    return COMMENT.sub(blank, text)


def kernels(source: str) -> dict[str, Kernel]:
    """Return the kernels of a source, which EV_KERNEL(threads) or __global__ declares, in their order."""
    text = without_comments(source)
    found = sorted((m for p in (EVENLY, CUDA) for m in p.finditer(text)), key=re.Match.start)
    return {m[2]: Kernel(m[1] or "1024", _split(_inside(text[m.end() :]))) for m in found}


def _inside(text: str) -> str:
    """Return what comes before the bracket that closes one before the text."""
    depth = 1
    for at, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return text[:at]
    return text


def for_host(source: str) -> str:
    """Return the source with shared memory as calls, and without headers of the CUDA toolkit."""
    text = without_comments(source)
    made, end = [], 0
    for match in SHARED.finditer(text):
        made += [source[end : match.start()], _shared(match), "\n" * match[0].count("\n")]
        end = match.end()
    made.append(source[end:])
    return INCLUDE.sub("", "".join(made))


def _shared(match: re.Match[str]) -> str:
    """Return declarations of shared variables as references to memory of the block."""
    first, *others = _split(" ".join(match[2].split()))
    found = DECLARED.search(first)
    if found is None:
        return match[0]
    kind = first[: found.start()].strip()
    out = []
    for declared in (first[found.start() :], *others):
        one = DECLARED.search(declared)
        if one is None:
            return match[0]
        out.append(_declared(kind, one[1], re.findall(r"\[([^\]]*)\]", one[2]), bool(match[1])))
    return " ".join(out)


def _declared(kind: str, name: str, lengths: list[str], dynamic: bool) -> str:
    if dynamic:
        return f'static const ::ev::sim::dynamic<{kind}> {name}{{"{name}"}};'
    shape = kind
    for length in reversed(lengths):
        shape = f"::ev::sim::array_of<{shape}, ({length})>"
    scalar = f"::std::is_scalar_v<{kind}>"
    get = f'ev_sim_shared(&{name}_key, sizeof({shape}), sizeof({kind}), {scalar}, "{name}")'
    return f"static const char {name}_key = 0; auto& {name} = *static_cast<{shape}*>({get});"


def _split(text: str) -> list[str]:
    """Split at commas that stand in no brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "<([") - (c in ">)]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts]
