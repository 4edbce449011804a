"""Emit what a schedule asks of the processor that runs it: the indices, counts and ranks of threads and groups."""

from __future__ import annotations

from evenly.language import ir, walk
from evenly.language.schedule_code import ScheduleCode

from .expressions import processor_name
from .statements import Writer


def define_processor(writer: Writer, code: ScheduleCode, size: int, block: int) -> None:
    """Define a variable for each value that the schedule asks of its processor."""
    asked = {
        e
        for part in (ir.Inline((), code.setup, ()), code.tiles, code.atoms)
        for e in walk.inline_expressions(part)
        if isinstance(e, ir.Processor)
    }
    names = {processor_name(e): e for e in sorted(asked, key=processor_name)}
    if size > 1:
        writer.line(
            f"const ev::group<{size}, {block}{', true' if getattr(writer, 'converged', False) else ''}> team;"
        )
    for s in code.exchanges:
        own = size > 1 and s.size == size
        writer.teams[s.size] = "team" if own else f"ev::members<{s.size}, {block}>()"
    others = [
        e for e in names.values() if e.what.startswith("group") and (size == 1 or e.size != size)
    ]
    if "thread_index" in names or any(e.what != "group_count" for e in others):
        writer.line(
            f"const pos thread_index = (pos)ev::block_rank() * {block} + ev::thread_rank();"
        )
    if "thread_count" in names or any(e.what == "group_count" for e in others):
        writer.line(f"const pos thread_count = (pos)ev::block_count() * {block};")
    for name, e in names.items():
        if e.what.startswith("group"):
            what = e.what.removeprefix("group_")
            plain = {
                "index": f"thread_index / {e.size}",
                "count": f"thread_count / {e.size}",
                "rank": f"thread_index % {e.size}",
            }
            writer.line(
                f"const pos {name} = {plain[what] if e in others else f'(pos)team.{what}()'};"
            )
