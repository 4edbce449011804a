"""Osama, Porumbescu, Owens, "A Programming Model for GPU Load Balancing" (PPoPP 2023; arXiv 2301.04792).

matrices     those of a folder, or generated ones
rule         the paper's rule of choice
sweep        all contenders on a matrix
published    what the authors published for single matrices (published.csv)
counting     lines of code, for Table 1
figures      Table 1, Figures 2 to 4: which rows, and the lines that are printed
pictures     Figures 2 to 4, drawn
conclusions  what the paper concludes, and what was found
"""

from __future__ import annotations

from ..experiment import Experiment, Site
from .conclusions import conclusions
from .figures import FIGURES
from .matrices import chosen
from .published import SOURCE, named
from .rule import ALPHA, AS_DATA, BEST, BETA, RULE
from .sweep import NAMES, library


def remarks(site: Site) -> list[str]:
    """Say what runs, and in what this run differs from the paper's."""
    found = chosen(site)
    known = sum(named(source.name) is not None for source in found)
    three = ", ".join(f"{name} is {schedule}" for name, schedule in NAMES.items())
    said = [
        f"float32. The paper's schedules here: {three}. Schedules have their default parameters.",
        "By hand: a kernel in CUDA C++ for each of three schedules, with the same parameters. The paper compares"
        " merge-path with CUB's.",
        f"{library(site)}; the paper's library is cuSPARSE.",
        f"{RULE}: section 6.2, alpha = {ALPHA}, beta = {BETA:,}, read as: merge-path, or thread-mapped where rows or"
        " columns are fewer than alpha and nonzeros fewer than beta.",
        f"{AS_DATA}: as the published data choose, where beta alone decides. {BEST}: the fastest of the paper's three.",
        f"published: {SOURCE}. It has {known} of these {len(found)} matrices.",
    ]
    if site.folder is None:
        said.append("--matrices FOLDER takes the matrices of a folder instead of generated ones.")
    if site.quick:
        said.append(
            "--quick: a few small matrices, one round. It shows that everything works; the times mean nothing."
        )
    if not site.on_gpu:
        said.append(
            "On a CPU there are no kernels by hand, so Figure 2 is empty. The paper's figures are a GPU's."
        )
    return said


EXPERIMENT = Experiment(
    'Osama, Porumbescu, Owens, "A Programming Model for GPU Load Balancing" (PPoPP 2023)',
    (),
    FIGURES,
    remarks,
    conclusions,
)

__all__ = ["EXPERIMENT"]
