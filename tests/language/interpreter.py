"""The typed program, executed literally: a second opinion beside the reference.

Every value is a NumPy scalar of exactly the type that its node claims, so a wrong type is
found where it is made. `run_program` executes what lowering gave; `run_phases` what cutting
made of it, each piece in a scope of its own (what a piece does not declare, it cannot see).
`chunk`: a tile's atoms are reduced in pieces of that many, then combined, as schedules do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from evenly.interop.narrow import narrowed, widened
from evenly.language import combine, ir
from evenly.language.intrinsics import BY_NAME
from evenly.language.phases import Once, Owned, Phases, Split
from evenly.language.scans import running
from evenly.language.types import BFLOAT16


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class Interpreter:
    def __init__(self, arguments: dict[str, Any], chunk: int = 0) -> None:
        self.arguments, self.chunk = arguments, chunk
        self.workspace: dict[str, np.ndarray] = {}
        self.env: dict[ir.Var, Any] = {}
        self.bounds: tuple[Callable[[Any], Any], Callable[[Any], Any]] | None = None
        self.tile: ir.Var | None = None

    # ---- what paths lead to ----------------------------------------------------------------------
    def at(self, path: ir.Path) -> Any:
        if path[0] == "$":
            return self.workspace[path[1]]
        found = self.arguments[path[0]]
        for name in path[1:]:
            found = getattr(found, name)
        return found

    def index(
        self, array: ir.Array, indices: tuple[ir.Expr, ...]
    ) -> tuple[np.ndarray, tuple[int, ...]]:
        data = self.at(array.path)
        assert data.ndim == array.ndim == len(indices)
        assert data.dtype == array.dtype.dtype, (data.dtype, array)
        found = tuple(int(self.value(i)) for i in indices)
        assert all(0 <= i < n for i, n in zip(found, data.shape, strict=True)), (
            array.name,
            found,
            data.shape,
        )
        return data, found

    def place(self, array: ir.Var, index: ir.Expr) -> int:
        """The index of an element of a local array."""
        assert isinstance(index, ir.Var | ir.Const)
        i = int(self.value(index))
        assert 0 <= i < array.length
        return i

    # ---- expressions -----------------------------------------------------------------------------
    def value(self, e: ir.Expr) -> Any:
        v = self._value(e)
        assert not (isinstance(e, ir.Var) and e.length), e
        assert np.asarray(v).dtype == e.type.dtype, (e, v, np.asarray(v).dtype)
        return v

    def _value(self, e: ir.Expr) -> Any:
        dtype = e.type.dtype.type
        match e:
            case ir.Const(value=v):
                return dtype(v)
            case ir.Var():
                return self.env[e]
            case ir.Param(path=path):
                return dtype(self.at(path))
            case ir.Extent(array=array, axis=axis):
                return dtype(self.at(array.path).shape[axis])
            case ir.Element(array=array, indices=indices):
                data, found = self.index(array, indices)
                return data[found]
            case ir.Item(array=array, index=i):
                return self.env[array][self.place(array, i)]
            case ir.Within(index=i, length=n):
                found = self.value(i)
                assert 0 <= found < (n if isinstance(n, int) else self.value(n)), e
                return found
            case ir.Unary(op=op, operand=x):
                v = self.value(x)
                return {"-": lambda: -v, "~": lambda: ~v, "not": lambda: np.bool_(not v)}[op]()
            case ir.Binary(op=op, left=a, right=b):
                return self.binary(op, self.value(a), self.value(b))
            case ir.Compare(op=op, left=a, right=b):
                x, y = self.value(a), self.value(b)
                assert x.dtype == y.dtype, e
                return {
                    "<": x < y,
                    "<=": x <= y,
                    ">": x > y,
                    ">=": x >= y,
                    "==": x == y,
                    "!=": x != y,
                }[op]
            case ir.Logic(op=op, left=a, right=b):
                x = self.value(a)
                return x if bool(x) == (op == "or") else self.value(b)
            case ir.Select(condition=c, then=a, otherwise=b):
                return self.value(a if self.value(c) else b)
            case ir.Cast(operand=x):
                v = self.value(x)
                if e.type is BFLOAT16:
                    return narrowed(v)[()]
                if x.type is BFLOAT16:
                    v = widened(v)
                return np.asarray(
                    np.trunc(v) if v.dtype.kind == "f" and e.type.kind == "i" else v
                ).astype(dtype)[()]
            case ir.Call(name=name, arguments=arguments):
                values = [self.value(a) for a in arguments]
                assert len({v.dtype for v in values}) == 1, e
                return dtype(BY_NAME[name].meaning(*values))
        raise AssertionError(e)

    @staticmethod
    def binary(op: str, x: Any, y: Any) -> Any:
        assert x.dtype == y.dtype, (op, x.dtype, y.dtype)
        if op in ("//", "%") and x.dtype.kind == "i":
            assert y != 0, "an integer division by zero"
        table: dict[str, Callable[[], Any]] = {
            "+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y, "/": lambda: x / y, "//": lambda: x // y,
            "%": lambda: x % y, "&": lambda: x & y, "|": lambda: x | y, "^": lambda: x ^ y, "<<": lambda: x << y,
            ">>": lambda: x >> y,
        }  # fmt: skip
        return table[op]()

    # ---- statements --------------------------------------------------------------------------------
    def block(self, block: ir.Block) -> None:
        for s in block:
            self.statement(s)

    def statement(self, s: ir.Stmt) -> None:
        match s:
            case ir.Assign(var=var, value=ir.Const() as e) if var.length:
                assert var.type == e.type, s
                self.env[var] = np.full(var.length, self.value(e))
            case ir.SetItem(array=var, index=i, value=e):
                assert var.type.dtype == e.type.dtype, s
                self.env[var][self.place(var, i)] = self.value(e)
            case ir.Assign(var=var, value=e):
                assert not var.length and var.type.dtype == e.type.dtype, s
                self.env[var] = self.value(e)
            case ir.Store(array=array, value=ir.Var() as e) if (
                array.path[0] == "$" and e not in self.env
            ):
                pass  # set in a branch that was not taken: kept by no one, read by no one
            case ir.Store(array=array, indices=indices, value=e):
                assert array.dtype == e.type or array.dtype.dtype == e.type.dtype, s
                data, found = self.index(array, indices)
                data[found] = self.value(e)
            case ir.Atomic():
                self.atomic(s)
            case ir.Scratch(array=array, length=n):
                self.workspace[array.path[1]] = np.zeros(int(self.value(n)), array.dtype.dtype)
            case ir.If(condition=c, then=a, otherwise=b):
                self.block(a if self.value(c) else b)
            case ir.While(before=before, condition=c, body=body):
                self.block(before)
                while self.value(c):
                    if self.once(body):
                        break
                    self.block(before)
            case ir.For(var=var, start=a, stop=b, step=c, body=body):
                for i in range(int(self.value(a)), int(self.value(b)), int(self.value(c))):
                    self.env[var] = var.type.dtype.type(i)
                    if self.once(body):
                        break
            case ir.Break():
                raise _Break
            case ir.Continue():
                raise _Continue
            case ir.Accumulate(accumulator=acc, values=(e,), index=i) if i is not None:
                self.combine_item(acc, self.place(acc.fields[0], i), self.value(e))
            case ir.Accumulate(accumulator=acc, values=values):
                self.combine(
                    acc, tuple(self.env[f] for f in acc.fields), tuple(map(self.value, values))
                )
            case ir.Scan():
                self.scan(s)
            case ir.Pass():
                self.walk(s)
            case _:
                raise AssertionError(s)

    def once(self, body: ir.Block) -> bool:
        """One round of a loop; whether it broke out."""
        try:
            self.block(body)
        except _Continue:
            pass
        except _Break:
            return True
        return False

    def atomic(self, s: ir.Atomic) -> None:
        data, found = self.index(s.array, s.indices)
        old, operands = data[found], [self.value(e) for e in s.operands]
        assert all(v.dtype == data.dtype for v in operands), s
        match s.op:
            case "add":
                data[found] = old + operands[0]
            case "min":
                data[found] = np.minimum(old, operands[0])
            case "max":
                data[found] = np.maximum(old, operands[0])
            case "exch":
                data[found] = operands[0]
            case "cas":
                data[found] = operands[1] if old == operands[0] else old
        if s.result is not None:
            self.env[s.result] = old

    # ---- reductions ----------------------------------------------------------------------------------
    def combine(self, acc: ir.Accumulator, a: tuple[Any, ...], b: tuple[Any, ...]) -> None:
        """The accumulator's fields become `a` and then `b`."""
        left, right = (tuple(ir.Var("part", f.type) for f in acc.fields) for _ in range(2))
        self.env.update(zip((*left, *right), (*a, *b), strict=True))
        body, results = combine.combined(acc, left, right)
        self.block(body)
        self.env.update(zip(acc.fields, [self.value(r) for r in results], strict=True))

    def combine_item(self, acc: ir.Accumulator, i: int, value: Any) -> None:
        """The same for one element of a local array."""
        (array,) = acc.fields
        element = ir.Var("element", array.type)
        self.combine(replace(acc, fields=(element,)), (self.env[array][i],), (value,))
        self.env[array][i] = self.env[element]

    def scan(self, s: ir.Scan) -> None:
        fields = s.accumulator.fields
        before = tuple(self.env[f] for f in fields)
        self.combine(s.accumulator, before, tuple(map(self.value, s.values)))
        after = tuple(self.env[f] for f in fields)
        self.env.update(zip(s.results, before if s.exclusive else after, strict=True))

    def start(self, accumulators: tuple[ir.Accumulator, ...]) -> None:
        for acc in accumulators:
            for v, e in zip(acc.fields, acc.identity, strict=True):
                self.statement(ir.Assign(v, e))

    def walk(self, p: ir.Pass) -> None:
        assert self.bounds is not None
        assert self.tile is not None
        tile = self.env[self.tile]
        begin, end = (int(f(tile)) for f in self.bounds)
        step = self.chunk or max(1, end - begin)
        self.start(running(p))
        outer = dict(self.env)
        parts: list[dict[ir.Var, Any]] = []
        for low in range(begin, end, step):
            self.start(p.accumulators)
            for k in range(low, min(low + step, end)):
                self.env[p.atom] = p.atom.type.dtype.type(k)
                self.block(p.body)
            parts.append({f: self.env[f] for acc in p.accumulators for f in acc.fields})
        # What the body assigned is gone after the pass; grid accumulators it may not touch.
        self.env = outer
        self.start(p.accumulators)
        for part in parts:
            for acc in p.accumulators:
                for i in range(acc.fields[0].length):
                    self.combine_item(acc, i, part[acc.fields[0]][i])
                if acc.fields[0].length:
                    continue
                self.combine(
                    acc, tuple(self.env[f] for f in acc.fields), tuple(part[f] for f in acc.fields)
                )

    # ---- layouts and programs --------------------------------------------------------------------------
    def inline(self, code: ir.Inline, *values: Any) -> Any:
        outer, self.env = self.env, dict(zip(code.params, values, strict=True))
        self.block(code.body)
        result = self.value(code.results[0])
        self.env = outer
        return result

    def tiles(self, layout: ir.LayoutCode, tile: ir.Var, body: Callable[[], None]) -> None:
        self.bounds = (
            (lambda t: self.inline(layout.begin, t)),
            (lambda t: self.inline(layout.end, t)),
        )
        self.tile = tile
        for t in range(int(self.inline(layout.num_tiles))):
            self.env[tile] = tile.type.dtype.type(t)
            body()
        self.bounds = self.tile = None


def run_program(program: ir.Program, arguments: dict[str, Any], chunk: int = 0) -> None:
    it = Interpreter(arguments, chunk)
    with np.errstate(all="ignore"):
        _run_steps(it, program.steps)


def _run_steps(it: Interpreter, steps: tuple[ir.Step, ...]) -> None:
    for step in steps:
        if isinstance(step, ir.Rounds):
            it.block(step.test)
            while it.env[step.condition]:
                _run_steps(it, step.steps)
                it.block(step.test)
        elif isinstance(step, ir.Scalars):
            it.block(step.body)
        else:
            it.start(step.accumulators)
            it.tiles(step.layout, step.tile, lambda body=step.body: it.block(body))  # type: ignore[misc]


def run_phases(phases: Phases, arguments: dict[str, Any], chunk: int = 0) -> None:
    it = Interpreter(arguments, chunk)
    with np.errstate(all="ignore"):
        _allocate(it, phases)
        for number in phases.order(lambda condition: bool(it.workspace[condition.name][0])):
            phase = phases.phases[number]
            it.env = {}
            if isinstance(phase, Once):
                it.block(phase.body)
            elif isinstance(phase, Owned):
                _owned(it, phase)
            else:
                _split(it, phase)


def _allocate(it: Interpreter, phases: Phases) -> None:
    counts = {
        p.path: it.at(p.path).max_tiles
        if phases.changes_counts(p)
        else it.inline(p.layout.num_tiles)
        for p in phases.phases
        if not isinstance(p, Once)
    }
    for w in phases.workspaces:
        if w.extent == "one":
            shape: tuple[int, ...] = (1,)
        else:
            shape = (int(counts[w.layout]),)
            if w.extent == "lane":
                assert w.lanes is not None
                shape = (*shape, max(0, int(it.value(w.lanes))))
        it.workspace[w.array.name] = np.full(shape, 77, w.array.dtype.dtype)


def _grid(it: Interpreter, phase: Owned | Split) -> None:
    for result in phase.grid:
        for array, field in zip(result.arrays, result.accumulator.fields, strict=True):
            it.workspace[array.name][0] = it.env[field]


def _owned(it: Interpreter, phase: Owned) -> None:
    it.block(phase.prelude)
    it.start(tuple(r.accumulator for r in phase.grid))
    it.tiles(phase.layout, phase.tile, lambda: it.block(phase.body))
    _grid(it, phase)


def _split(it: Interpreter, phase: Split) -> None:
    accumulators = tuple(r.accumulator for r in phase.grid)
    grid = {f for a in accumulators for f in a.fields}
    it.start(accumulators)

    def keep(*more: ir.Var) -> dict[ir.Var, Any]:
        # A variable of a branch that was not taken has no value: reading it would be a KeyError.
        return {v: it.env[v] for v in (phase.tile, *more, *grid) if v in it.env}

    def one() -> None:
        lane = () if phase.lane is None else (phase.lane,)
        scope = keep(*lane)
        it.block(phase.enter)
        it.env = keep(*lane, *phase.state)
        it.walk(phase.pass_)
        it.env = keep(*lane, *(f for a in phase.pass_.accumulators for f in a.fields))
        it.block(phase.leave)
        it.env = {**scope, **{f: it.env[f] for f in grid}}

    def tile() -> None:
        if phase.lane is None or phase.lanes is None:
            return one()
        for j in range(int(it.value(phase.lanes))):
            it.env[phase.lane] = phase.lane.type.dtype.type(j)
            one()
        return None

    it.tiles(phase.layout, phase.tile, tile)
    _grid(it, phase)
