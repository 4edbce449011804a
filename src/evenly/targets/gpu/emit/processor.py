"""Emit what a schedule asks of the processor that runs it: the indices, counts and ranks of threads and groups."""

from __future__ import annotations

from evenly.language import ir
from evenly.language.schedule_code import ScheduleCode

from .expressions import processor_name
from .statements import Writer

# What is asked of a group that is `team`, of a block.
OF_BLOCK = {
    "group_index": "team.local()",
    "group_count": "team.per_block",
    "group_rank": "team.rank()",
}


def define_processor(writer: Writer, code: ScheduleCode, size: int, block: int) -> None:
    """Define a variable for each value that the schedule asks of its processor."""
    names = {processor_name(e): e for e in asked(code)}
    several = getattr(writer, "several", None)
    if several:
        several.begin(writer)
    elif size > 1:
        writer.line(_team(writer, size, block))
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
            own = f"(pos)team.{e.what.removeprefix('group_')}()"
            writer.line(f"const pos {name} = {_by_number(e) if e in others else own};")


def define_in_item(
    writer: Writer, code: ScheduleCode, size: int, block: int, rank: str, owner: int | str
) -> None:
    """The same for the inner of two nested schedules, whose processors are numbered within the item's owner.

    size: of the schedule's own groups; 1: threads. rank: of the thread among the `owner` threads that own an item.
    """
    writer.line(f"const pos thread_index = {rank};")
    writer.line(f"const pos thread_count = {owner};")
    if size > 1:
        writer.line(_team(writer, size, block))
    name_teams(writer, code, size, block)
    for e in asked(code):
        if e.what.startswith("group"):
            whole = e.size == size and size > 1 and owner == block
            writer.line(
                f"const pos {processor_name(e)} = {OF_BLOCK[e.what] if whole else _by_number(e)};"
            )


def _team(writer: Writer, size: int, block: int) -> str:
    converged = ", true" if getattr(writer, "converged", False) else ""
    return f"const ev::group<{size}, {block}{converged}> team;"


def _by_number(e: ir.Processor) -> str:
    """Return what is asked of a group, from the numbers of its threads."""
    return {
        "group_index": f"thread_index / {e.size}",
        "group_count": f"thread_count / {e.size}",
        "group_rank": f"thread_index % {e.size}",
    }[e.what]


def asked(code: ScheduleCode) -> list[ir.Processor]:
    """Return what the schedule asks of its processor, by name."""
    found = {e for e in code.expressions() if isinstance(e, ir.Processor)}
    return sorted(found, key=processor_name)


def name_teams(writer: Writer, code: ScheduleCode, size: int, block: int) -> None:
    """Say how the schedule's code names the groups whose members tell each other numbers."""
    for s in code.exchanges:
        own = size > 1 and s.size == size
        writer.teams[s.size] = "team" if own else f"ev::members<{s.size}, {block}>()"
