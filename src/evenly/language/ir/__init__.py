"""The typed program: what a kernel means once its argument types are known.

Every node of the intermediate representation is declared here, and used as `ir.NAME`. Layouts, tuples and function
calls have been resolved: only scalars, flat arrays and loops are left, so that a target has little to handle. Nodes
are frozen; `Var` is compared by identity.

    programs       a kernel: its loops over tiles, the statements outside of them, rounds of both
    statements     what a tile and an atom do: statements, reductions, passes; pieces of code with parameters
    expressions    values, and the arrays, variables and numbers that they are made of
"""

from .expressions import *  # noqa: F403
from .programs import *  # noqa: F403
from .statements import *  # noqa: F403
