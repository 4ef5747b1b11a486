"""Rendered audio on disk: found by name, sealed, bounded, shared by processes."""

import os
import shutil
import subprocess
import sys

import pytest

from speech.kept import Kept


def files(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "kb" / "speech"


def test_what_was_written_is_read(folder):
    kept = Kept(folder, b"joe", 10_000)
    assert kept.read("Goodbye.") is None
    kept.write("Goodbye.", b"abc")
    assert "Goodbye." in kept
    assert "Hello." not in kept
    assert Kept(folder, b"joe", 10_000).read("Goodbye.") == b"abc"
    assert len(files(folder)) == 1


def test_another_voice_has_its_own(folder):
    kept, other = Kept(folder, b"joe", 10_000), Kept(folder, b"joe, slower", 10_000)
    kept.write("Goodbye.", b"abc")
    assert other.read("Goodbye.") is None
    assert "Goodbye." not in other


@pytest.mark.parametrize("at", [0, 15, 16, 60, -1])
def test_an_altered_file_is_none(folder, at):
    kept = Kept(folder, b"joe", 10_000)
    kept.write("Goodbye.", bytes(100))
    (path,) = folder.iterdir()
    altered = bytearray(path.read_bytes())
    altered[at] ^= 4
    path.write_bytes(altered)
    assert kept.read("Goodbye.") is None
    kept.write("Goodbye.", b"new")
    assert kept.read("Goodbye.") == b"new"


@pytest.mark.parametrize("size", [0, 8, 16, 17, 115])
def test_a_file_cut_short_is_none(folder, size):
    kept = Kept(folder, b"joe", 10_000)
    kept.write("Goodbye.", bytes(100))
    (path,) = folder.iterdir()
    path.write_bytes(path.read_bytes()[:size])
    assert kept.read("Goodbye.") is None


def test_one_sentence_under_the_name_of_another_is_none(folder):
    kept = Kept(folder, b"joe", 10_000)
    kept.write("It is open.", b"abc")
    (path,) = folder.iterdir()
    kept.write("It is closed.", b"xyz")
    other = next(one for one in folder.iterdir() if one != path)
    other.write_bytes(path.read_bytes())
    assert kept.read("It is closed.") is None


def test_the_longest_unused_leaves(folder):
    kept = Kept(folder, b"joe", 500)
    for number in range(5):
        kept.write(str(number), bytes(84))
        path = max(folder.iterdir(), key=lambda one: one.stat().st_mtime_ns)
        os.utime(path, (1000 + number, 1000 + number))
    kept.read("0")  # a use, years later
    kept.write("5", bytes(84))
    kept.prune()
    assert [key for key in "012345" if key in kept] == ["0", "3", "4", "5"]
    kept.prune()
    assert len(files(folder)) == 4


def test_it_keeps_to_its_bytes_by_itself(folder):
    kept = Kept(folder, b"joe", 10_000)
    for number in range(400):
        kept.write(str(number), bytes(84))
    assert len(files(folder)) <= 100 + 64


def test_what_a_dead_process_left_unfinished_goes(folder):
    kept = Kept(folder, b"joe", 10_000)
    kept.write("a", b"a")
    for name, used_s in (("old.part", 1000), ("new.part", None)):
        (folder / name).write_bytes(b"")
        if used_s:
            os.utime(folder / name, (used_s, used_s))
    kept.prune()
    assert [name for name in files(folder) if name.endswith(".part")] == ["new.part"]


def test_a_write_that_fails_leaves_what_was_there(folder, monkeypatch):
    kept = Kept(folder, b"joe", 10_000)
    kept.write("a", b"before")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        kept.write("a", b"after")
    assert kept.read("a") == b"before"
    assert len(files(folder)) == 1


def test_the_last_of_a_disk_is_left_to_others(folder, monkeypatch):
    kept = Kept(folder, b"joe", 10_000)
    free = shutil.disk_usage(folder.parent.parent)._replace(free=60_000_000)
    monkeypatch.setattr("speech.kept.shutil.disk_usage", lambda _: free)
    with pytest.raises(OSError, match="No space"):
        kept.write("a", b"a")
    assert files(folder) == []


def test_others_may_read_it(folder):
    mask = os.umask(0)
    os.umask(mask)
    Kept(folder, b"joe", 10_000).write("a", b"a")
    (path,) = folder.iterdir()
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


def test_two_processes_at_once(folder):
    script = (
        "import sys; from pathlib import Path; from speech.kept import Kept\n"
        "kept = Kept(Path(sys.argv[1]), b'joe', 5_000)\n"
        "for n in range(300):\n"
        "    kept.write(str(n % 60), str(n % 60).encode() * 100)\n"
        "    assert kept.read(str(n % 60)) in (None, str(n % 60).encode() * 100)\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(folder)], stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    assert [process.communicate(timeout=60)[1] for process in running] == [b"", b""]
    assert not [name for name in files(folder) if name.endswith(".part")]
