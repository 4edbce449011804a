"""Anzt, Collins, Dongarra, Flegar, Quintana-Orti, "Flexible Batched Sparse Matrix-Vector Product on GPUs" (ScalA 2017).

kernels      the six kernels: a schedule over a layout each
ell_batch    the layout of one of them
matrices     the paper's matrices, stand-ins, random ones
problem      a point of a figure: a batch and its contenders
figures      Figures 3 to 7
conclusions  what the paper concludes, and what was found
"""

from __future__ import annotations

from ..experiment import Experiment, Site
from .conclusions import conclusions
from .figures import FIGURES, sizes
from .kernels import KERNELS
from .matrices import all_of_them
from .problem import AUTO, BY_ITEMS, CURVES, DIAGONAL, LOOP, MOST_LOOPED, PUBLISHED


def remarks(site: Site) -> list[str]:
    """Say what runs, and in what this run differs from the paper's."""
    library = "cuSPARSE" if site.on_gpu else "SciPy"
    best = "cuSPARSE (the best of four algorithms)" if site.on_gpu else "SciPy"
    every = all_of_them(site)
    stand_ins = [m.name for m in every if m.stand_in]
    kept = len(every) - len(stand_ins)
    names = ", ".join(stand_ins) if kept else "all of them"
    said = [
        "Double precision; 2 floating point operations a nonzero; GB/s counts what is stored, with padding.",
        f"{', '.join(k.name for k in KERNELS)}: the kernels of the paper, as schedules over layouts; no atomics.",
        f"{AUTO}: what `ev.spmv` does, on rows. {BY_ITEMS}: a loop over items, under `auto`.",
        "Columns take 32 bits everywhere, as in the paper: `narrow=False`.",
        *([f"{', '.join(PUBLISHED)}: as published, by hand, with float atomics."] * site.on_gpu),
        f"{DIAGONAL}: {best} on the block-diagonal matrix. {LOOP}: a call of {library} for each matrix"
        + (", in one CUDA graph," if site.on_gpu else ",")
        + f" up to {MOST_LOOPED:,} calls.",
        f"Matrices: {kept} of the paper's 32 from files, {len(stand_ins)} stand-ins ({names}).",
        "A stand-in has its matrix's order, nonzeros and row lengths, at random columns. But the row lengths of those"
        " for ex25 and ex27 are chosen, and so are the sizes of those named n...: what they replace is not known.",
        "The paper's definition of the random matrices of Figure 4 is not known here. Balanced: all rows are equally"
        " long. A few dense rows: half of the nonzeros lie in full rows.",
    ]
    if site.folder is None:
        said.append("--matrices FOLDER reads the paper's matrices from files.")
    if site.quick:
        said.append(
            "--quick: batches of a few matrices, one round. It shows that everything works; the times mean nothing."
        )
    elif not site.on_gpu:
        most = sizes(site)
        said.append(
            f"On a CPU, batches are smaller: at most {max(most.batches):,} matrices. The paper's figures are a GPU's."
        )
    return said


EXPERIMENT = Experiment(
    'Anzt, Collins, Dongarra, Flegar, Quintana-Orti, "Flexible Batched Sparse Matrix-Vector Product on GPUs" '
    "(ScalA 2017), measured on a P100",
    CURVES,
    FIGURES,
    remarks,
    conclusions,
)

__all__ = ["EXPERIMENT"]
