"""Where objects have their fields: a probe that finds one elsewhere is believed."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

from evenly.interop import fields as module
from evenly.interop.fields import fields

here = fields()
pytestmark = pytest.mark.skipif(here is None, reason="they are elsewhere here")


@pytest.mark.parametrize("field", ["type", "data", "ndim", "sizes", "dtype", "flags"])
def test_a_field_of_an_array_that_is_elsewhere_is_noticed(field: str) -> None:
    assert here is not None
    assert module._arrays(here)
    one_on = here._replace(**{field: getattr(here, field) + 8})
    if field == "sizes":  # strides stand there
        assert not module._array(one_on, np.zeros((2, 3)))
    else:
        assert not module._arrays(one_on)


def test_a_referent_that_is_elsewhere_is_noticed() -> None:
    assert here is not None
    assert module._references(here)
    assert not module._references(here._replace(referent=here.type))


def test_other_interpreters_are_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a lock that all Python code holds, an array could change while it is looked at."""
    find = fields.__wrapped__
    assert find() == here
    with monkeypatch.context() as changed:
        changed.setattr(module.sysconfig, "get_config_var", lambda name: 1)
        assert find() is None
    with monkeypatch.context() as changed:
        changed.setattr(sys, "implementation", types.SimpleNamespace(name="pypy"))
        assert find() is None
    with monkeypatch.context() as changed:
        changed.setattr(module, "HEAD", 32)
        assert find() is None
