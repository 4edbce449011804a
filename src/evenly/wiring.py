"""Connect each hook of a lower floor with the function of a higher floor that it calls (see hooks.py)."""

from __future__ import annotations

from evenly import hooks

# hook: function, both as "module:name"
TABLE = {
    "evenly.layouts.arguments:convert": "evenly.layouts:convert",
    "evenly.layouts.conversions:converted": "evenly.algorithms.linalg.convert:convert",
    "evenly.layouts.conversions:regrouped": "evenly.algorithms.linalg.convert:regroup",
    "evenly.layouts.conversions:transposed": "evenly.algorithms.linalg.convert:transpose",
    "evenly.layouts.defaults:cut": "evenly.layouts.subset:cut",
    "evenly.layouts.entries:faults_on_gpu": "evenly.runtime.entries:first_faults",
    "evenly.layouts.gluing:unsound_on_gpu": "evenly.runtime.gluing:unsound",
    "evenly.layouts.narrow:numbered_on_gpu": "evenly.runtime.gluing:numbered",
    "evenly.layouts.subset:sums_on_gpu": "evenly.targets.cuda.scan:prefix_sums",
    "evenly.runtime.bound:collected": "evenly.collect:collect",
    "evenly.schedules.contract:check_engine": "evenly.targets.gpu.engines:check",
    "evenly.choosing.lengths:measured_on_gpu": "evenly.runtime.looking:lengths_of",
    "evenly.tuning.locality:ordering": "evenly.runtime.ordering:ordering",
    "evenly.choosing.look:both_on_gpu": "evenly.runtime.looking:both_of",
    "evenly.choosing.reuse:measured_on_gpu": "evenly.runtime.looking:reuse_of",
}

hooks.connect(TABLE)
