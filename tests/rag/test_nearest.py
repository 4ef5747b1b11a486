"""Nearest rows: exact and by graph, and one copy of the graph for all processes."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from frontdesk import ConfigError, KnowledgeBaseError
from rag import nearest
from rag.nearest import Flat, Hnsw, best

ROOT = Path(__file__).resolve().parents[2]


def unit(rows):
    rows = np.asarray(rows, np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def vectors():
    """3,000 unit vectors of 48 dimensions around 60 centres."""
    rng = np.random.default_rng(3)
    centres = rng.standard_normal((60, 48))
    return unit(np.repeat(centres, 50, axis=0) + 0.6 * rng.standard_normal((3000, 48)))


@pytest.fixture(scope="module")
def hnsw(vectors):
    pytest.importorskip("faiss")
    return Hnsw.build(vectors)


@pytest.fixture(scope="module")
def saved(hnsw, tmp_path_factory):
    folder = tmp_path_factory.mktemp("graph") / "hnsw"
    hnsw.save(folder)
    return folder


SQUARE = unit([[1, 0], [0, 1], [1, 1], [-1, 0], [0, 1]])


@pytest.mark.parametrize("make", [Flat, Hnsw.build])
def test_best_first_and_equal_ones_by_row(make):
    if make is not Flat:
        pytest.importorskip("faiss")
    scores, rows = make(SQUARE).search(np.array([0, 1], np.float32), 4)
    assert rows.tolist() == [1, 4, 2, 0]
    assert scores == pytest.approx([1, 1, 0.5**0.5, 0], abs=5e-4)
    assert (scores.dtype, rows.dtype) == (np.float32, np.int64)


@pytest.mark.parametrize("make", [Flat, Hnsw.build])
def test_never_more_than_there_are_and_none_for_none(make):
    if make is not Flat:
        pytest.importorskip("faiss")
    index = make(SQUARE)
    assert len(index) == 5
    assert sorted(index.search(SQUARE[0], 9)[1].tolist()) == [0, 1, 2, 3, 4]
    for empty in (index.search(SQUARE[0], 0), make(SQUARE[:0]).search(SQUARE[0], 3)):
        assert [len(part) for part in empty] == [0, 0]
        assert (empty[0].dtype, empty[1].dtype) == (np.float32, np.int64)


def test_flat_is_the_full_sort(vectors):
    flat = Flat(vectors)
    for query in vectors[::500]:
        exact = np.vecdot(vectors, query)
        expected = np.argsort(-exact, kind="stable")[:25]
        scores, rows = flat.search(query, 25)
        assert rows.tolist() == expected.tolist()
        assert scores.tolist() == exact[expected].tolist()


def test_flat_reads_a_mapped_file(vectors, tmp_path):
    np.save(tmp_path / "vectors.npy", vectors)
    mapped = np.load(tmp_path / "vectors.npy", mmap_mode="r")
    scores, rows = Flat(mapped).search(vectors[70], 3)
    assert rows[0] == 70
    assert type(scores) is np.ndarray


def test_best_breaks_ties_at_the_cut_by_row():
    assert best(np.array([1, 2, 1, 2, 1, 1], np.float32), 4).tolist() == [1, 3, 0, 2]
    assert best(np.zeros(1000, np.float32), 3).tolist() == [0, 1, 2]


def test_the_graph_finds_what_the_full_sort_finds(vectors, hnsw):
    flat = Flat(vectors)
    rng = np.random.default_rng(5)
    queries = unit(vectors[::30] + 0.05 * rng.standard_normal((100, 48)))
    found = 0
    for query in queries:
        scores, rows = hnsw.search(query, 10)
        exact = np.vecdot(vectors[rows], query)
        assert np.abs(scores - exact).max() < 5e-4
        found += len(set(rows.tolist()) & set(flat.search(query, 10)[1].tolist()))
    # Half precision alone swaps a few at the cut.
    assert found / 1000 >= 0.985


def test_more_than_the_search_width_can_be_asked_for(vectors, hnsw):
    rows = hnsw.search(vectors[0], 200)[1]
    assert len(set(rows.tolist())) == 200


def test_copies_of_a_row_neither_hide_others_nor_are_lost(vectors):
    pytest.importorskip("faiss")
    # 150 rows a hundred times over, which link to nothing but each other unless folded.
    distinct = vectors[::20]
    copies = np.tile(distinct, (100, 1))
    index = Hnsw.build(copies)
    assert len(index) == 15_000
    for number, query in enumerate(distinct):
        rows = index.search(query, 5)[1]
        assert rows.tolist() == [number + 150 * copy for copy in range(5)]
    rows = index.search(distinct[0], 150)[1]
    assert set(rows[:100].tolist()) == set(range(0, 15_000, 150))


def test_progress_counts_rows_and_ends_at_the_total(vectors, monkeypatch):
    pytest.importorskip("faiss")
    monkeypatch.setattr(nearest, "_BATCH", 80)
    seen = []
    index = Hnsw.build(vectors[:200], lambda done, total: seen.append((done, total)))
    assert seen == [(80, 200), (160, 200), (200, 200)]
    assert index.search(vectors[199], 1)[1].tolist() == [199]


PROBE = """
import json, os, sys
from pathlib import Path
import numpy as np
from rag.nearest import Hnsw

def memory():
    lines = [line.split() for line in open("/proc/self/smaps")]
    kb = {"Pss": 0, "Private": 0, "Rss": 0}
    inside = False
    for line in lines:
        if "-" in line[0] and not line[0].endswith(":"):
            inside = line[-1].endswith("graph.faiss")
        elif inside:
            name = line[0].rstrip(":")
            name = "Private" if name.startswith("Private_") else name
            if name in kb:
                kb[name] += int(line[1])
    return kb

index = Hnsw.open(Path(sys.argv[1]))
threads = len(os.listdir("/proc/self/task"))
queries = np.load(sys.argv[2])
found = [index.search(query, 10) for query in queries]
rows = [part[1].tolist() for part in found]
scores = [part[0].tolist() for part in found]
print(json.dumps("read"), flush=True)
sys.stdin.readline()
started = len(os.listdir("/proc/self/task")) - threads
print(json.dumps({"rows": rows, "scores": scores, "kb": memory(), "started": started}))
"""


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs Linux's /proc")
def test_two_processes_share_one_copy_and_find_the_same(vectors, hnsw, saved, tmp_path):
    np.save(tmp_path / "queries.npy", vectors)
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", PROBE, str(saved), str(tmp_path / "queries.npy")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for _ in range(2)
    ]
    for worker in workers:  # both have read all of it before either is measured
        assert worker.stdout.readline() == '"read"\n'
    for worker in workers:
        worker.stdin.write("\n")
        worker.stdin.flush()
    # They wait for each other's end only here, so both map the file while they measure.
    first, second = (json.loads(worker.stdout.readline()) for worker in workers)
    for worker in workers:
        worker.communicate(timeout=30)
    expected = [hnsw.search(query, 10) for query in vectors]
    for found in (first, second):
        assert found["rows"] == [rows.tolist() for _, rows in expected]
        assert found["scores"] == [scores.tolist() for scores, _ in expected]
        assert found["started"] == 0, "a search started threads"
        size_kb = (saved / "graph.faiss").stat().st_size / 1024
        assert found["kb"]["Rss"] > 0.9 * size_kb
    # Each holds half of it: no page belongs to one process alone.
    assert first["kb"]["Private"] + second["kb"]["Private"] == 0
    assert first["kb"]["Pss"] <= 0.51 * first["kb"]["Rss"]


@pytest.mark.parametrize("name", ["graph.faiss", "rows.npy", "starts.npy"])
def test_a_missing_or_cut_file_is_refused(hnsw, tmp_path, name):
    hnsw.save(tmp_path)
    path = tmp_path / name
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(KnowledgeBaseError, match=f"cannot open {tmp_path}: "):
            Hnsw.open(tmp_path)
    path.unlink()
    with pytest.raises(KnowledgeBaseError, match="No such file"):
        Hnsw.open(tmp_path)


def test_another_kind_of_index_is_refused(hnsw, tmp_path):
    faiss = pytest.importorskip("faiss")
    hnsw.save(tmp_path)
    faiss.write_index(faiss.IndexFlatIP(48), str(tmp_path / "graph.faiss"))
    with pytest.raises(KnowledgeBaseError, match="do not belong together"):
        Hnsw.open(tmp_path)


def test_a_folder_that_cannot_be_written_is_an_error(hnsw, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError):
        hnsw.save(tmp_path / "file")
    (tmp_path / "graph.faiss").mkdir()
    with pytest.raises(OSError, match="cannot write"):
        hnsw.save(tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_a_clear_error(hnsw, tmp_path):
    (tmp_path / "graph.faiss").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device"):
        hnsw.save(tmp_path)


def test_without_faiss_flat_works_and_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    assert Flat(SQUARE).search(SQUARE[3], 1)[1].tolist() == [3]
    with pytest.raises(ConfigError, match=r"50,000 vectors .* pip install 'frontdesk\[faiss\]'"):
        Hnsw.build(SQUARE)


def test_faiss_is_not_imported_until_it_is_needed():
    code = "import sys, rag.nearest; print('faiss' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert ran.stdout == "False\n", ran.stderr
