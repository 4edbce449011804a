"""The typed program as text, for tests to compare: one line a statement, types where they are made."""

from __future__ import annotations

from evenly.language import ir
from evenly.language.phases import Once, Owned, Phases, Split


def program(p: ir.Program) -> str:
    return "\n".join(_steps(p.steps))


def _steps(steps: tuple[ir.Step, ...]) -> list[str]:
    lines: list[str] = []
    for step in steps:
        if isinstance(step, ir.Rounds):
            lines += [f"while {step.condition.name}", *_indented(step.test), "rounds"]
            lines += [f"  {line}" for line in _steps(step.steps)]
        elif isinstance(step, ir.Scalars):
            lines += ["once", *_indented(step.body)]
        else:
            lines += [
                f"tiles {step.tile.name} of {'.'.join(step.path)}{_accumulators(step.accumulators)}",
                *_indented(step.body),
            ]
    return lines


def phases(p: Phases) -> str:
    lines = [f"workspace {w.array.name}: {w.array.dtype} a {w.extent}" for w in p.workspaces]
    lines += [f"repeat {r.first} to {r.last - 1} while {r.condition.name}" for r in p.repeats]
    for phase in p.phases:
        match phase:
            case Once(body=body):
                lines += ["once", *_indented(body)]
            case Owned():
                lines += [f"owned {phase.tile.name} of {'.'.join(phase.path)}{_grid(phase)}"]
                lines += _part("prelude", phase.prelude) + _indented(phase.body)
            case Split():
                lane = (
                    f", lane {phase.lane.name} < {expr(phase.lanes)}"
                    if phase.lane and phase.lanes
                    else ""
                )
                lines += [f"split {phase.tile.name} of {'.'.join(phase.path)}{lane}{_grid(phase)}"]
                lines += (
                    _part("enter", phase.enter)
                    + _indented((phase.pass_,))
                    + _part("leave", phase.leave)
                )
    return "\n".join(lines)


def _grid(phase: Owned | Split) -> str:
    return "".join(f", {r.accumulator.op} to {r.arrays[0].name}" for r in phase.grid)


def _part(name: str, block: ir.Block) -> list[str]:
    return [f"  {name}", *(f"  {line}" for line in _indented(block))] if block else []


def _indented(block: ir.Block) -> list[str]:
    return [f"  {line}" for s in block for line in statement(s)]


def _accumulators(accumulators: tuple[ir.Accumulator, ...]) -> str:
    return "".join(
        f", {' '.join(f.name for f in a.fields)} = {a.op} {a.fields[0].type}" for a in accumulators
    )


def statement(s: ir.Stmt) -> list[str]:
    match s:
        case ir.Assign(var=var, value=value):
            return [f"{var.name}: {var.type} = {expr(value)}"]
        case ir.SetItem(array=array, index=i, value=value):
            return [f"{array.name}[{expr(i)}] = {expr(value)}"]
        case ir.Store(array=array, indices=indices, value=value):
            return [f"{array.name}[{_list(indices)}] = {expr(value)}"]
        case ir.Atomic(op=op, array=array, indices=indices, operands=operands, result=result):
            return [
                f"{result.name if result else '_'} = atomic {op} {array.name}[{_list(indices)}], {_list(operands)}"
            ]
        case ir.If(condition=c, then=a, otherwise=b):
            return [f"if {expr(c)}", *_indented(a), *(["else", *_indented(b)] if b else [])]
        case ir.While(before=before, condition=c, body=body):
            return ["while", *_indented(before), f"  test {expr(c)}", *_indented(body)]
        case ir.For(var=var, start=a, stop=b, step=c, body=body, kind=kind):
            return [f"for {var.name} in {kind} {expr(a)}, {expr(b)}, {expr(c)}", *_indented(body)]
        case ir.Accumulate(accumulator=acc, values=values, index=i) if i is not None:
            return [f"{acc.fields[0].name}[{expr(i)}] <- {_list(values)}"]
        case ir.Accumulate(accumulator=acc, values=values):
            return [f"{' '.join(f.name for f in acc.fields)} <- {_list(values)}"]
        case ir.Pass(atom=atom, accumulators=accumulators, body=body):
            return [f"pass {atom.name}{_accumulators(accumulators)}", *_indented(body)]
    return [type(s).__name__.lower()]


def _list(expressions: tuple[ir.Expr, ...]) -> str:
    return ", ".join(map(expr, expressions))


def expr(e: ir.Expr) -> str:
    match e:
        case ir.Const(value=value):
            return str(value)
        case ir.Var(name=name) | ir.Param(name=name):
            return name
        case ir.Extent(array=array, axis=axis):
            return f"len({array.name}, {axis})"
        case ir.Element(array=array, indices=indices, once=once):
            return f"{array.name}[{_list(indices)}{' once' if once else ''}]"
        case ir.Item(array=array, index=i):
            return f"{array.name}[{expr(i)}]"
        case ir.Within(index=i, length=n):
            return f"{expr(i)} within {n}"
        case ir.Unary(op=op, operand=x):
            return f"({op} {expr(x)})"
        case (
            ir.Binary(op=op, left=a, right=b)
            | ir.Compare(op=op, left=a, right=b)
            | ir.Logic(op=op, left=a, right=b)
        ):
            return f"({expr(a)} {op} {expr(b)})"
        case ir.Select(condition=c, then=a, otherwise=b):
            return f"({expr(a)} if {expr(c)} else {expr(b)})"
        case ir.Cast(operand=x, type=t):
            return f"{t}({expr(x)})"
        case ir.Call(name=name, arguments=arguments):
            return f"{name}({_list(arguments)})"
    raise AssertionError(e)
