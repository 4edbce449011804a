"""The file of measured winners: shared, edited, damaged, or not accessible."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

import evenly as ev
from evenly.tuning import winner, winners
from evenly.tuning.key import Key
from evenly.tuning.winner import NewerFormat, Winner

KEY = Key("4 tiles, 9 atoms, longest 3, 0", "spmv 12ab", "A: Csr(), x: float32[4]", "cpu", "a CPU")


def won(number=0, schedule=None, date="2025-01-01", **changes) -> Winner:
    imported = changes.pop("imported", False)
    found = replace(KEY, **{"structure": f"{number} tiles", **changes})
    schedule = schedule or ev.MergePath(items=5)
    return Winner(
        found,
        schedule,
        {str(schedule): 1.5, "Mine(size=3)": 2.25},
        f"{date}T00:00:00+00:00",
        imported,
    )


def held() -> list[Winner]:
    return [w for alike in winners.remembered().values() for w in alike.values()]


# ---- round trips ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "schedule",
    [
        ev.ThreadMapped(128),
        ev.GroupMapped(8, flatten=True),
        ev.BlockMapped(),
        ev.NonzeroSplit(items=7),
    ],
    ids=str,
)
def test_what_is_kept_is_remembered(winners_file: Path, schedule) -> None:
    assert winners.keep([won(1, schedule), won(2)]) == str(winners_file)
    assert held() == [won(1, schedule), won(2)]


def test_the_file_is_for_readers_too(winners_file: Path) -> None:
    winners.keep([won(1)])
    header, line = winners_file.read_text().splitlines()
    assert json.loads(header) == {"evenly tuning, format": 1}
    item = json.loads(line)
    own = {"block": 256, "items": 5, "min_blocks": 0, "carveout": -1, "lanes": 1, "vector": 1}
    assert item["schedule"] == {"MergePath": own}
    assert item["times"] == {
        "MergePath(block=256, items=5, min_blocks=0, carveout=-1)": 1.5,
        "Mine(size=3)": 2.25,
    }
    assert (item["structure"], item["kernel"], item["device"]) == ("1 tiles", "spmv 12ab", "a CPU")


def test_nothing_is_remembered_at_first(winners_file: Path) -> None:
    assert held() == []
    assert not winners_file.exists()


def test_the_later_one_of_two_for_the_same_counts(winners_file: Path) -> None:
    old, new = won(1, date="2025-01-01"), won(1, ev.WarpMapped(), date="2025-01-02")
    winners.keep([new])
    winners.keep([old])
    assert held() == [new]


def test_any_other_key_is_another_winner(winners_file: Path) -> None:
    """A winner of another GPU, version or type is never used."""
    others = [
        won(1, device="NVIDIA H200 (sm_90)"),
        won(1, device="NVIDIA B200 (sm_100)"),
        won(1, evenly="0.0.1"),
        won(1, arguments="A: Csr(), x: float64[4]"),
        won(1, kernel="spmv 34cd"),
        won(1, target="cuda"),
    ]
    winners.keep(others)
    found = winners.remembered()["1 tiles"]
    assert len(found) == len(others)
    assert won(1).key not in found


def test_the_oldest_go_when_there_are_too_many(winners_file: Path, monkeypatch) -> None:
    monkeypatch.setattr(winner, "MOST", 3)
    for day in (3, 1, 4, 2, 5):
        winners.keep([won(day, date=f"2025-01-0{day}")])
    assert sorted(w.date[:10] for w in held()) == ["2025-01-03", "2025-01-04", "2025-01-05"]


def test_what_others_measured_goes_first_and_counts_less(winners_file: Path, monkeypatch) -> None:
    """Imported winners are dropped first and count less, whatever their date."""
    monkeypatch.setattr(winner, "MOST", 3)
    mine = [won(day, date=f"2025-01-0{day}") for day in (1, 2)]
    others = [won(day, date=f"2025-02-0{day}", imported=True) for day in (1, 3, 4, 5)]
    winners.keep(mine)
    winners.keep(others)
    assert held() == [*mine, others[-1]]
    winners.keep([won(5, date="2025-01-09")])  # measured here, now
    assert won(5, date="2025-01-09") in held()


def test_dates_are_moments(winners_file: Path) -> None:
    """Dates are compared as times, not as text: time zones and precisions differ."""
    late, early = "2025-01-01T23:00:00-05:00", "2025-01-02T03:00:00.500+00:00"
    for given, other in ((late, early), (early, late)):
        lines = [json.dumps(json.loads(winner.line(won(1))) | {"date": d}) for d in (given, other)]
        found, left_out = winner.parsed("\n".join(['{"evenly tuning, format": 1}', *lines]), "")
        assert not left_out
        assert [w.date for w in found.values()] == ["2025-01-02T04:00:00+00:00"]


def test_what_could_not_be_read_is_not_written(winners_file: Path) -> None:
    assert winners.keep([won(1, arguments="x: float32[1], " * 1000)]) == ""
    assert winners.keep([won(1), replace(won(2), times={"MergePath()": 0.0})]) == ""
    assert not winners_file.exists()


def test_schedules_of_ones_own_are_not_kept() -> None:
    @ev.schedule
    class MergePath:  # a name is not enough
        block: int = 256
        owner = "thread"

        def launch(self, layout):
            return 1, self.block

        def tiles(self, layout):
            return range(ev.thread_index(), layout.num_tiles, ev.thread_count())

        def atoms(self, layout, tile):
            return range(layout.begin(tile), layout.end(tile))

    assert winner.can_be_kept(ev.MergePath())
    assert not winner.can_be_kept(MergePath())


# ---- what may be wrong with a file ---------------------------------------------------------------------
KEY_OF = winner.line(won(3))
BROKEN = {
    "no JSON": "{",
    "no JSON object": "[1, 2]",
    "no arguments, date": '{"kernel": "k"}',
    "no JSON ": "\x00\xff\x1b",
    "no JSON  ": "[" * 60_000,
    "a line of 100,002 characters": f'"{"a" * 100_000}"',
}
CHANGES = {
    "schedule 'Fast'": {"schedule": {"Fast": {}}},
    "schedule MergePath with 'size'": {"schedule": {"MergePath": {"size": 3}}},
    "schedule MergePath with 'block'": {"schedule": {"MergePath": {"block": 256.0}}},
    "schedule MergePath with 'items'": {"schedule": {"MergePath": {"items": 10**400}}},
    "schedule MergePath with parameters that it cannot have": {
        "schedule": {"MergePath": {"block": 100_000}}
    },
    "schedule that is none": {"schedule": ["MergePath"]},
    "times with one that no run takes": {"times": {"MergePath()": 10**399}},
    "times with one that no run takes ": {"times": {"MergePath()": -1}},
    "times with one that no run takes  ": {"times": {"MergePath()": True}},
    "no JSON   ": {"times": {"MergePath()": float("nan")}},
    "times that are none": {"times": {}},
    "a time's schedule with characters that cannot be printed": {"times": {"\x1b[2J": 1.0}},
    "kernel with characters that cannot be printed": {"kernel": "a\udcff"},
    "device with characters that cannot be printed": {"device": "a\x1b]0;b\x07"},
    "device of 10,000 characters": {"device": "a" * 10_000},
    "structure that is no text": {"structure": 5},
    "target 'simt'": {"target": "simt"},
    "evenly 'new'": {"evenly": "new"},
    "date '9999-12-31', after its time": {"date": "9999-12-31"},
    "date '1999-12-31', before its time": {"date": "1999-12-31"},
    "date that is none": {"date": "9999"},
    "date that is none ": {"date": "0001-01-01T00:00:00+23:00x"},
    "parts that are not known": {"more": 1},
    "imported that is not true": {"imported": 1},
}
BROKEN |= {name: json.dumps(json.loads(KEY_OF) | parts) for name, parts in CHANGES.items()}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_line_is_left_out_with_one_warning_and_written_no_more(winners_file, name) -> None:
    winners.keep([won(1), won(2)])
    header, first, second = winners_file.read_text().splitlines()
    winners_file.write_text("\n".join([header, first, BROKEN[name], second, ""]))
    with pytest.warns(RuntimeWarning) as caught:
        found = held(), held()  # the second time it is not said again
    assert found == ([won(1), won(2)], [won(1), won(2)])
    (message,) = [str(w.message) for w in caught]
    why = f"{winners_file}: 1 line left out, which cannot be read (line 3: {name.rstrip()}"
    assert message.startswith(why)
    assert message.isprintable()
    with pytest.warns(RuntimeWarning):
        winners.keep([won(4)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert held() == [won(1), won(2), won(4)]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\x89PNG\r\n", bytes(range(256)) * 9, b"{}\n"])
def test_a_file_of_something_else_is_no_error(winners_file: Path, content: bytes) -> None:
    winners_file.parent.mkdir()
    winners_file.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert held() == []
        assert winners.keep([won(1)])
    assert held() == [won(1)]


def test_a_file_that_was_cut_off_keeps_its_whole_lines(winners_file: Path) -> None:
    winners.keep([won(1), won(2)])
    winners_file.write_bytes(winners_file.read_bytes()[:-20])
    with pytest.warns(RuntimeWarning, match="1 line left out"):
        assert held() == [won(1)]


def test_a_newer_format_is_neither_used_nor_overwritten(winners_file: Path) -> None:
    winners.keep([won(1)])
    newer = winners_file.read_text().replace('format": 1', 'format": 2')
    winners_file.write_text(newer)
    with pytest.warns(
        RuntimeWarning, match="winners.jsonl: format 2, and this evenly knows 1; it is not used"
    ):
        assert held() == []
    assert winners.keep([won(2)]) == ""
    assert winners_file.read_text() == newer
    with pytest.raises(NewerFormat):
        winners.everything()


def test_a_directory_in_the_place_of_the_file(winners_file: Path) -> None:
    winners_file.mkdir(parents=True)
    assert held() == []
    assert winners.keep([won(1)]) == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(winners_file: Path) -> None:
    winners.keep([won(1)])
    winners_file.parent.chmod(0o500)
    try:
        assert winners.keep([won(2)]) == ""
        assert held() == [won(1)]
    finally:
        winners_file.parent.chmod(0o700)


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EVENLY_TUNING", str(tmp_path / "file" / "winners.jsonl"))
    assert winners.keep([won(1)]) == ""
    assert held() == []


def test_the_default_is_in_evenlys_cache(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVENLY_TUNING", "")
    monkeypatch.setenv("EVENLY_CACHE_DIR", str(tmp_path))
    assert winners.path() == tmp_path / ev.__version__ / "tuning" / "winners.jsonl"


def test_switched_off(monkeypatch) -> None:
    monkeypatch.setenv("EVENLY_TUNING", "off")
    assert winners.keep([won(1)]) == ""
    assert held() == []
    for use in (winners.everything, winners.forget, winners.switched_on):
        with pytest.raises(
            ev.InputError, match="EVENLY_TUNING: expected a file of measured winners, got 'off'"
        ):
            use()


# ---- several processes -----------------------------------------------------------------------------------
WRITER = """
import sys
from tests.tuning.test_winners import won, winners
for i in range(25):
    assert winners.keep([won(f"{sys.argv[1]}.{i}")])
    assert f"{sys.argv[1]}.{i} tiles" in winners.remembered()
"""


def test_writers_at_the_same_time_lose_nothing(winners_file: Path) -> None:
    environment = {**os.environ, "EVENLY_TUNING": str(winners_file)}
    running = [
        subprocess.Popen([sys.executable, "-W", "error", "-c", WRITER, str(n)], env=environment)
        for n in range(3)
    ]
    assert [process.wait(120) for process in running] == [0, 0, 0]
    assert {w.key.structure for w in held()} == {
        f"{n}.{i} tiles" for n in range(3) for i in range(25)
    }
    assert sorted(p.name for p in winners_file.parent.iterdir()) == [
        ".winners.jsonl.lock",
        "winners.jsonl",
    ]


def test_what_another_process_has_measured_is_seen(winners_file: Path) -> None:
    winners.keep([won(1)])
    assert len(held()) == 1
    content = winners_file.read_text() + winner.line(won(2)) + "\n"
    winners_file.write_text(content)
    assert len(held()) == 2


# ---- other files --------------------------------------------------------------------------------------------
def test_to_another_machine_and_back(winners_file: Path, tmp_path: Path) -> None:
    winners.keep([won(1), won(2, ev.WarpMapped(), date="2025-02-02")])
    there = tmp_path / "shared.jsonl"
    assert winners.copied_to(there) == 2
    assert winners.forget() == 2
    assert held() == []
    winners.keep([won(3), won(2, date="2025-03-03")])
    assert winners.copied_from(there) == 2
    found = sorted(held(), key=lambda w: w.key.structure)
    assert found == [won(1, imported=True), won(2, date="2025-03-03"), won(3)]


def test_what_cannot_be_used_of_another_file_is_said(winners_file: Path, tmp_path: Path) -> None:
    there = tmp_path / "a\x1b.jsonl"
    lines = winner.written({w.key: w for w in (won(1), won(2))}).decode().splitlines()
    there.write_text("\n".join([*lines, BROKEN["target 'simt'"], "{"]))
    with pytest.warns(RuntimeWarning) as caught:
        assert winners.copied_from(there) == 2
    (said,) = [str(w.message) for w in caught]
    assert said.endswith("2 lines left out, which cannot be read (line 4: target 'simt')")
    assert said.isprintable()


@pytest.mark.parametrize("content", ["", "hello\n", "\xff", '{"evenly tuning, format": 1}\n'])
def test_only_such_files_are_taken_in(winners_file: Path, tmp_path: Path, content: str) -> None:
    source = tmp_path / "other"
    source.write_text(content, encoding="latin1")
    with pytest.raises(
        ev.InputError, match="expected measured winners, got .*; hint: `evenly tuning export"
    ):
        winners.copied_from(source)
    assert not winners_file.exists()


def test_taking_in_says_where_nothing_can_be_written(tmp_path: Path, monkeypatch) -> None:
    source = tmp_path / "shared.jsonl"
    source.write_bytes(winner.written({KEY: won(1)}))
    monkeypatch.setenv("EVENLY_TUNING", str(source / "below"))
    with pytest.raises(ev.InputError, match="expected a file that can be written"):
        winners.copied_from(source)
