"""Emit what a schedule asks of the processor that runs it: the indices, counts and ranks of threads and groups."""

from __future__ import annotations

from evenly.language import ir, walk
from evenly.language.schedule_code import ScheduleCode

from .expressions import processor_name
from .statements import Writer


def define_processor(writer: Writer, code: ScheduleCode, size: int, block: int) -> None:
    """Define a variable for each value that the schedule asks of its processor."""
    names = {processor_name(e): e for e in asked(code)}
    if size > 1:
        writer.line(
            f"const ev::group<{size}, {block}{', true' if getattr(writer, 'converged', False) else ''}> team;"
        )
    name_teams(writer, code, size, block)
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


def define_in_item(
    writer: Writer, code: ScheduleCode, size: int, block: int, rank: str, owner: int
) -> None:
    """The same for the inner of two nested schedules, whose processors are numbered within the item's owner.

    size: of the schedule's own groups; 1: threads. rank: of the thread among the `owner` threads that own an item.
    """
    writer.line(f"const pos thread_index = {rank};")
    writer.line(f"const pos thread_count = {owner};")
    if size > 1:
        writer.line(f"const ev::group<{size}, {block}> team;")
    name_teams(writer, code, size, block)
    for e in asked(code):
        if e.what.startswith("group"):
            whole = e.size == size and size > 1 and owner == block
            writer.line(f"const pos {processor_name(e)} = {_of_group(e, whole)};")


def _of_group(e: ir.Processor, whole: bool) -> str:
    """Return what is asked of a group within an item's owner. whole: it is `team`, and the owner is the whole block."""
    what = e.what.removeprefix("group_")
    if whole:
        return {"index": "team.local()", "count": "team.per_block", "rank": "team.rank()"}[what]
    return {
        "index": f"thread_index / {e.size}",
        "count": f"thread_count / {e.size}",
        "rank": f"thread_index % {e.size}",
    }[what]


def asked(code: ScheduleCode) -> list[ir.Processor]:
    """Return what the schedule asks of its processor, by name."""
    parts = ir.Inline((), code.setup, ()), code.tiles, code.atoms
    found = {e for part in parts for e in walk.inline_expressions(part)}
    return sorted((e for e in found if isinstance(e, ir.Processor)), key=processor_name)


def name_teams(writer: Writer, code: ScheduleCode, size: int, block: int) -> None:
    """Say how the schedule's code names the groups whose members tell each other numbers."""
    for s in code.exchanges:
        own = size > 1 and s.size == size
        writer.teams[s.size] = "team" if own else f"ev::members<{s.size}, {block}>()"
