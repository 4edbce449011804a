"""The decorator: fields, defaults, refusals that name class and member."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from evenly.errors import InputError
from evenly.layouts import Csr, check, csr, is_layout, layout, subset
from evenly.layouts.contract import Array, FieldSpec, Index, Layout, Static, accessors, masks
from tests import batteries


@layout
class Sliced:
    """Sliced ELL: slices of `height` rows, each padded to its own width, column-major."""

    starts: Array[Index]
    indices: Array[Index]
    values: Array
    height: Static
    num_columns: int

    @property
    def num_tiles(self):
        return (len(self.starts) - 1) * self.height

    @property
    def num_atoms(self):
        return len(self.indices)

    def width(self, tile):
        s = tile // self.height
        return (self.starts[s + 1] - self.starts[s]) // self.height

    def begin(self, tile):
        return self.starts[tile // self.height] + tile % self.height * self.width(tile)

    def end(self, tile):
        return self.begin(tile) + self.width(tile)

    def slot(self, tile, k):
        return (
            self.starts[tile // self.height]
            + (k - self.begin(tile)) * self.height
            + tile % self.height
        )

    def valid(self, tile, position):
        return self.indices[self.slot(tile, position)] >= 0

    def column(self, tile, k):
        return self.indices[self.slot(tile, k)]

    def value(self, tile, k):
        return self.values[self.slot(tile, k)]


def sliced():
    starts = np.array([0, 4, 10])
    indices = np.array([0, 1, 2, -1, 0, 1, 2, 3, -1, 0])
    return Sliced(starts, indices, np.arange(10.0), 2, 4)


def test_fields_are_recorded_in_order():
    assert Sliced.__fields__ == {
        "starts": FieldSpec("starts", "index_array"),
        "indices": FieldSpec("indices", "index_array"),
        "values": FieldSpec("values", "array"),
        "height": FieldSpec("height", "static"),
        "num_columns": FieldSpec("num_columns", "int"),
    }
    assert Sliced.__default_methods__ == {"tile_id", "atom_id"}
    assert accessors(Sliced)["column"] == (True, True)
    assert accessors(Csr)["column"] == (False, True)
    assert accessors(Sliced)["width"] == (True, False)


def test_a_users_layout_keeps_the_contract():
    made = sliced()
    check(made)
    assert made.shape == (4, 4)
    assert (made.max_tiles, made.max_atoms) == (4, 10)
    assert is_layout(made)
    assert not is_layout(Sliced)
    assert masks(made)
    assert "height=2" in repr(made)


def test_a_layout_is_frozen_compared_by_identity_and_weakly_referenced():
    made = sliced()
    with pytest.raises(AttributeError):
        made.height = 3
    assert made != sliced()
    assert made in {made}
    ref = weakref.ref(made)
    del made
    gc.collect()
    assert ref() is None


def test_a_derived_layout_inherits_fields_and_defaults():
    @layout
    class Named(Csr):
        tag: int

    assert list(Named.__fields__) == [*Csr.__fields__, "tag"]
    assert Named.__default_methods__ == Csr.__default_methods__


def test_field_values_are_checked():
    with pytest.raises(InputError) as caught:
        Sliced([0, 4], np.zeros(4, int), np.zeros(4), 2, 4)
    assert str(caught.value) == (
        "Sliced.starts: expected an array, got list; "
        "hint: make an array of it with numpy.asarray(..., dtype=...)"
    )
    with pytest.raises(InputError, match=r"^Sliced\.height: expected an integer, got float$"):
        Sliced(np.array([0, 4]), np.zeros(4, int), np.zeros(4), 2.0, 4)
    with pytest.raises(InputError, match=r"^Sliced\.indices: expected int32 or int64 indices"):
        Sliced(np.array([0, 4]), np.zeros(4), np.zeros(4), 2, 4)
    with pytest.raises(InputError, match=r"^Subset\.base: expected a layout, got int$"):
        type(subset(csr(batteries.matrices()["wide"]), np.arange(1)))(3, np.arange(1), np.arange(2))


def test_a_users_post_init_runs_after_ours():
    seen = []

    @layout
    class Checked:
        offsets: Array[Index]
        num_atoms: int
        num_tiles: int

        def __post_init__(self):
            seen.append(self.offsets.dtype)

        def begin(self, tile):
            return self.offsets[tile]

        def end(self, tile):
            return self.offsets[tile + 1]

    Checked(np.zeros(1, int), 0, 0)
    assert seen == [np.int64]


def broken(**members):
    body = {
        "__annotations__": {"offsets": Array[Index]},
        "__module__": __name__,
        "num_tiles": property(lambda self: 0),
        "num_atoms": property(lambda self: 0),
        "begin": lambda self, tile: 0,
        "end": lambda self, tile: 0,
    }
    body.update(members)
    return type("Mine", (), {k: v for k, v in body.items() if v is not None})


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            {"begin": None},
            "Mine.begin: expected a method begin(self, tile), got nothing",
        ),
        (
            {"begin": lambda self: 0},
            "Mine.begin: expected a method begin(self, tile), got begin(self)",
        ),
        (
            {"valid": lambda self, tile: True},
            "Mine.valid: expected a method valid(self, tile, position), got valid(self, tile)",
        ),
        (
            {"num_tiles": None},
            "Mine.num_tiles: expected a property (or an int field), got nothing; "
            "hint: @property def num_tiles(self): return ...",
        ),
        (
            {"num_tiles": lambda self: 0},
            "Mine.num_tiles: expected a property (or an int field), got a method; "
            "hint: put @property above it",
        ),
        (
            {"__annotations__": {"offsets": list}},
            "Mine.offsets: expected a field annotated Array[Index], Array, int, Static or Layout, "
            "got <class 'list'>",
        ),
        (
            {"__annotations__": {"tiles": Array[Index]}},
            "Mine.tiles: expected another name for the field, got 'tiles'; "
            "hint: kernels call tiles() to loop",
        ),
        (
            {"__annotations__": {"valid": int}},
            "Mine.valid: expected another name for the field, got 'valid'; "
            "hint: it is a method of the contract",
        ),
        (
            {"__annotations__": {"__hash__": int}},
            "Mine.__hash__: expected another name for the field, got '__hash__'; "
            "hint: names with two underscores at both ends are Python's own",
        ),
        (
            {"__annotations__": {"num_atoms": int}},
            "Mine.num_atoms: expected a field or a method of that name, got both",
        ),
        (
            {"max_atoms": lambda self: 0},
            "Mine.max_atoms: expected a property (or an int field), got a method; "
            "hint: put @property above it",
        ),
        (
            {"delegate": "base"},
            "Mine.delegate: expected the name of a Layout field, got 'base'",
        ),
    ],
)
def test_a_class_that_breaks_the_contract_is_refused(members, message):
    with pytest.raises(InputError) as caught:
        layout(broken(**members))
    assert str(caught.value) == message


def test_annotations_local_to_a_function_are_read_by_their_text():
    cls = layout(broken(__annotations__={"a": "ev.Array[ev.Index]", "b": "ev.Static"}))
    assert [spec.kind for spec in cls.__fields__.values()] == ["index_array", "static"]


def test_delegation_finds_accessors_on_the_base():
    @layout
    class Reversed:
        base: Layout
        delegate = "base"

        @property
        def num_tiles(self):
            return self.base.num_tiles

        @property
        def num_atoms(self):
            return self.base.num_atoms

        def begin(self, tile):
            return self.base.begin(tile)

        def end(self, tile):
            return self.base.end(tile)

    made = Reversed(csr(batteries.matrices()["wide"]))
    assert made.column(0) == made.base.indices[0]
    assert made.shape == made.base.shape
    with pytest.raises(AttributeError):
        _ = made.nothing_of_the_kind


def test_layouts_are_compared_by_identity() -> None:
    with pytest.raises(InputError, match=r"Same.__eq__: expected none: a layout is itself"):

        @layout
        class Same:
            offsets: Array[Index]

            @property
            def num_tiles(self):
                return len(self.offsets) - 1

            @property
            def num_atoms(self):
                return 0

            def begin(self, tile):
                return self.offsets[tile]

            def end(self, tile):
                return self.offsets[tile + 1]

            def __eq__(self, other):
                return True
