"""Cederman, Tsigas, "On Dynamic Load Balancing on Graphics Processors" (Graphics Hardware 2008).

particles    the two distributions
octree       the kernel, and the octree that it has to find
sweep        a point: a method, its launch, and particles
figures      Figures 2 to 5: which points, and the lines that are printed
pictures     the same, drawn
conclusions  what the paper concludes, and what was found
"""

from __future__ import annotations

from ..experiment import Experiment, Site
from .conclusions import conclusions
from .figures import FIGURES, sizes
from .octree import LEAF
from .sweep import EVERY, METHODS, POOL


def remarks(site: Site) -> list[str]:
    """Say what runs, and in what this run differs from the paper's."""
    asked = sizes(site)
    names = ", ".join(f"{name} is {EVERY[name].__name__}" for name in METHODS)
    said = [
        f"An octree of {asked.particles:,} particles, {LEAF} at most in a leaf, in float32. A task is an octant.",
        f"The paper's methods: {names}. Not the paper's: {POOL} ({EVERY[POOL].__name__}).",
        "Times are those of whole calls, which wait for the device. The last call of each point is checked against a"
        " sequential octree.",
        "Threads below 32: two tasks a warp, so a block of the paper's is half a warp. Threads that are no multiple of"
        " 32 leave lanes idle.",
        "The paper has a GPU of 112 cores and one of 64. Here Figure 3 limits how many blocks run at a time: up to the"
        " number of multiprocessors, each has one of its own.",
        "What the authors measured lies in figures only: no numbers of theirs are here but those in the conclusions.",
    ]
    if site.quick:
        said.append(
            "--quick: few particles, one round. It shows that everything works; the times mean nothing."
        )
    if not site.on_gpu:
        said.append(
            "On a CPU the static list runs tasks in rounds. The other methods are the same there: threads that steal."
            " Numbers of threads and blocks change nothing. The paper's figures are a GPU's."
        )
    return said


EXPERIMENT = Experiment(
    'Cederman, Tsigas, "On Dynamic Load Balancing on Graphics Processors" (Graphics Hardware 2008), measured on'
    " a GeForce 8800GT and a 9600GT",
    (),
    FIGURES,
    remarks,
    conclusions,
    goes_on=True,
)

__all__ = ["EXPERIMENT"]
