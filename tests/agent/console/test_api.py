"""What the console tells of calls, over real HTTP, from a real store."""

import asyncio
import csv
import io
import json
import threading

import numpy as np
import soundfile

from tests.agent.console.stored import EVIL, KNOWN, PIZZA, SATURDAY, TEN, recorded, stored, talk

SUNDAY = "and what about sunday"


async def test_the_ten_turn_call_answers_why_it_said_that(desk, clinic):
    async with desk() as served:
        name = await stored(served.records, clinic, TEN)
        recorded(served.settings.records.folder, name)
        page = (await served.get(f"/api/calls/{name}")).json()
    assert [turn["heard"] for turn in page["turns"]] == list(TEN)
    call = page["call"]
    assert (call["id"], call["call_id"], call["turns"]) == (name, "CA1", 10)
    assert (call["ended"], call["live"], call["recording"]) == ("caller hung up", False, True)
    assert call["kb"] == clinic.kb.sha256[:16]
    sunday = page["turns"][1]
    assert sunday["query"]["text"] == "what time do you guys open on sunday"
    assert sunday["query"]["context"]
    assert sunday["changes_text"]
    assert sunday["score"] > sunday["floor"] > 0
    (passage,) = sunday["passages"]
    assert passage["revision"] == clinic.kb.sha256[:16]
    assert passage["state"] == "same"
    (quoted,) = [piece["text"] for piece in passage["pieces"] if piece["quoted"]]
    assert quoted in sunday["say"]
    assert sunday["hits"][0]["score"] == max(hit["score"] for hit in sunday["hits"])
    assert all(check["passed"] for check in sunday["checks"])
    assert [stage["name"] for stage in sunday["stages"]][-1] == "audible"
    assert sunday["reply_ms"] == sunday["stages"][-1]["to_ms"]
    pizza = page["turns"][TEN.index(PIZZA)]
    assert (pizza["decision"], pizza["passages"]) == ("refused", [])
    assert pizza["score"] < pizza["floor"]
    assert pizza["reason_text"] == "no passage is close enough to the question"
    assert page["prompts"][0]["say"].startswith("Thanks for calling")
    assert [line["seq"] for line in page["events"]] == list(range(len(page["events"])))
    assert page["audio"]["seconds"] == 3.0


async def test_calls_are_found_by_words_outcome_and_time_page_by_page(desk, clinic):
    async with desk() as served:
        names = [
            await stored(served.records, clinic, questions, call_id=f"CA{number}")
            for number, questions in enumerate([[SATURDAY], [PIZZA], [SATURDAY, SUNDAY]])
        ]

        async def found(**query):
            reply = await served.get("/api/calls", params=query)
            assert reply.status_code == 200, reply.text
            return reply.json()

        everything = await found()
        assert [row["id"] for row in everything["calls"]] == names[::-1]
        assert everything["total"] == 3
        assert everything["wires"] == ["browser"]
        second = await found(offset=1, limit=1)
        assert [row["id"] for row in second["calls"]] == [names[1]]
        assert (second["total"], second["offset"], second["limit"]) == (3, 1, 1)
        assert [row["id"] for row in (await found(text="anchovies"))["calls"]] == [names[1]]
        assert [row["id"] for row in (await found(outcome="refused"))["calls"]] == [names[1]]
        assert (await found(outcome="transferred"))["total"] == 0
        assert (await found(wire="twilio"))["total"] == 0
        assert (await found(until="2020-01-01"))["total"] == 0
        assert (await found(since="2020-01-01", until="2100-01-01T00:00:00+02:00"))["total"] == 3
        assert (await found(offset=10_000_000))["calls"] == []


BAD_QUERIES = (
    "offset=-1", "offset=x", "offset=1e3", "offset=99999999999", "offset=%D9%A3", "limit=0",
    "limit=201", "outcome=lost", "since=yesterday", "since=2026-13-01", "until=9999-12-31",
    "since=0001-01-01T00:00:00%2B14:00", "text=" + "x" * 201, "text=%00", "wire=" + "x" * 201,
)  # fmt: skip
NO_QUERIES = ("'; DROP TABLE calls; --", '"', "(", "NEAR(", "%", "*", "a OR b", "-x", "ß İ", "^")
NO_CALLS = ("nothing", "..%2Foutside", "..%2F..%2Fetc", "..", "a%00b", "x" * 500, "é", "a/b")
NO_FILES = ("..%2fapp.py", "../app.py", "%2e%2e/app.py", "app.py", "login.html", "", "a%00.js")


async def test_a_query_that_cannot_be_read_is_refused_in_words(desk):
    async with desk() as served:
        for query in BAD_QUERIES:
            reply = await served.get(f"/api/calls?{query}")
            assert reply.status_code == 400, query
            assert reply.json()["error"]
        assert (await served.get("/api/calls?limit=&offset=")).status_code == 200


async def test_what_is_searched_for_is_words_and_no_query(desk, clinic):
    async with desk() as served:
        await stored(served.records, clinic, [SATURDAY, PIZZA])
        for text in NO_QUERIES:
            for path in ("/api/calls", "/api/refusals"):
                reply = await served.get(path, params={"text": text})
                assert (reply.status_code, reply.json()["total"]) == (200, 0), text
        assert (await served.get("/api/calls")).json()["total"] == 1


async def test_an_unknown_call_is_not_there_whatever_its_name(desk):
    async with desk() as served:
        folder = served.settings.records.folder
        (folder.parent / "outside.jsonl").write_text("secret")
        (folder.parent / "outside.wav").write_text("secret")
        for name in NO_CALLS:
            for path in ("", "/audio", "/peaks", "/record"):
                reply = await served.get(f"/api/calls/{name}{path}")
                assert reply.status_code == 404, (name, path)
                assert "secret" not in reply.text
            mark = {"turn": 1, "label": "wrong"}
            assert (await served.post(f"/api/calls/{name}/marks", mark)).status_code == 404


async def test_no_file_but_the_pages_own_is_given_out(desk):
    async with desk() as served:
        assert (await served.get("/static/console.css")).status_code == 200
        for name in NO_FILES:
            reply = await served.get(f"/static/{name}")
            assert reply.status_code == 404, name
            assert "import" not in reply.text


async def test_script_in_a_transcript_is_data_in_json_and_never_a_page(desk, clinic):
    async with desk() as served:
        name = await stored(served.records, clinic, [EVIL])
        for path in (f"/api/calls/{name}", "/api/refusals", f"/api/calls/{name}/record"):
            reply = await served.get(path)
            assert reply.headers["content-type"].startswith(("application/json", "text/plain"))
            assert reply.headers["x-content-type-options"] == "nosniff"
        turns = (await served.get(f"/api/calls/{name}")).json()["turns"]
        assert turns[0]["heard"] == EVIL
        assert EVIL not in (await served.get(f"/call/{name}")).text


async def test_the_recording_plays_from_anywhere(desk, clinic):
    async with desk() as served:
        name = await stored(served.records, clinic)
        assert (await served.get(f"/api/calls/{name}/audio")).status_code == 404
        assert (await served.get(f"/api/calls/{name}")).json()["audio"] is None
        recorded(served.settings.records.folder, name, seconds=20.0)
        path = f"/api/calls/{name}/audio"
        whole = await served.get(path)
        assert (whole.status_code, whole.headers["accept-ranges"]) == (200, "bytes")
        samples, rate_hz = soundfile.read(io.BytesIO(whole.content), dtype="int16")
        assert (samples.shape, rate_hz) == ((160_000, 2), 8000)
        assert np.abs(samples[:80_000, 0]).max() > 10_000 > np.abs(samples[:80_000, 1]).max()
        part = await served.get(path, headers={"Range": "bytes=100001-300000"})
        assert part.status_code == 206
        assert part.content == whole.content[100_001:300_001]
        size = len(whole.content)
        assert part.headers["content-range"] == f"bytes 100001-300000/{size}"
        beyond = await served.get(path, headers={"Range": f"bytes={size}-"})
        assert (beyond.status_code, beyond.headers["content-range"]) == (416, f"bytes */{size}")
        peaks = (await served.get(f"/api/calls/{name}/peaks?buckets=10")).json()
        assert peaks["seconds"] == 20.0
        assert [level > 0.3 for level in peaks["caller"]] == [True] * 5 + [False] * 5
        assert [level > 0.3 for level in peaks["agent"]] == [False] * 5 + [True] * 5


async def test_the_record_is_given_as_it_was_written(desk, clinic):
    async with desk() as served:
        name = await stored(served.records, clinic)
        reply = await served.get(f"/api/calls/{name}/record")
        assert reply.content == (served.settings.records.folder / f"{name}.jsonl").read_bytes()
        assert f'filename="{name}.jsonl"' in reply.headers["content-disposition"]
        assert json.loads(reply.text.splitlines()[0])["event"] == "call_started"


async def test_the_record_of_a_call_in_progress_is_whole_as_far_as_it_goes(desk):
    over = threading.Event()

    def grow(record):
        while not over.is_set():
            record.event("said", say="x" * 500)

    async with desk() as served:
        record = served.records.begin("CA1", **KNOWN)
        growing = threading.Thread(target=grow, args=(record,))
        growing.start()
        try:
            replies = [await served.get(f"/api/calls/{record.id}/record") for _ in range(20)]
        finally:
            over.set()
            growing.join()
            record.close("caller hung up")
    for reply in replies:
        assert json.loads(reply.text.splitlines()[0])["event"] == "call_started"
        assert int(reply.headers["content-length"]) == len(reply.content)


async def test_a_person_marks_an_answer_and_finds_it_by_that(desk, clinic):
    async with desk() as served:
        name = await stored(served.records, clinic)
        mark = {"turn": 1, "label": "doubtful", "note": f"ask {EVIL}"}
        reply = await served.post(f"/api/calls/{name}/marks", mark)
        assert reply.status_code == 201, reply.text
        (shown,) = reply.json()["marks"]
        assert (shown["label"], shown["note"]) == ("doubtful", mark["note"])
        page = (await served.get(f"/api/calls/{name}")).json()
        assert page["turns"][0]["marks"] == [shown]
        assert page["turns"][1]["marks"] == []
        (row,) = (await served.get("/api/calls?outcome=marked")).json()["calls"]
        assert row["marks"] == {"right": 0, "wrong": 0, "doubtful": 1}


async def test_a_wrong_answer_becomes_a_case_until_it_is_right_after_all(desk, clinic):
    async with desk() as served:
        name = await stored(served.records, clinic, ["my number is 555 867 5309", SATURDAY])
        mark = {"turn": 2, "label": "wrong", "note": "it is 8 now"}
        reply = (await served.post(f"/api/calls/{name}/marks", mark)).json()
        assert (reply["case"], reply["problem"]) == (f"{name}.json", "")
        path = served.settings.records.folder / "cases" / reply["case"]
        case = path.read_text(encoding="utf-8")
        assert "wrong: it is 8 now" in case
        assert SATURDAY in case
        assert "867" not in case
        mark["label"] = "right"
        reply = (await served.post(f"/api/calls/{name}/marks", mark)).json()
        assert reply["case"] == ""
        assert not path.exists()


BAD_MARKS = (
    ({"turn": 1, "label": "awful"}, 400),
    ({"turn": 1}, 400),
    ({"turn": "1", "label": "wrong"}, 400),
    ({"turn": True, "label": "wrong"}, 400),
    ({"turn": 99, "label": "wrong"}, 404),
    ({"turn": 10**30, "label": "wrong"}, 404),
    ({"turn": 1, "label": "wrong", "note": "x" * 1001}, 400),
    ({"turn": 1, "label": "wrong", "note": ["x"]}, 400),
    ({"turn": 1, "label": "wrong", "note": "\0"}, 400),
    ([], 400),
)


async def test_a_mark_that_is_none_is_refused(desk, clinic):
    async with desk() as served:
        name = await stored(served.records, clinic)
        for mark, status in BAD_MARKS:
            reply = await served.post(f"/api/calls/{name}/marks", mark)
            assert reply.status_code == status, mark
        assert (await served.get("/api/calls?outcome=marked")).json()["total"] == 0


async def test_refusals_are_listed_with_score_and_floor(desk, clinic):
    async with desk() as served:
        name = await stored(served.records, clinic, [SATURDAY, PIZZA])
        page = (await served.get("/api/refusals")).json()
        assert page["total"] == 1
        (row,) = page["refusals"]
        assert (row["call"], row["turn"], row["heard"]) == (name, 2, PIZZA)
        assert row["score"] < row["floor"]
        assert (await served.get("/api/refusals?reason=empty")).json()["total"] == 0
        assert (await served.get("/api/refusals?text=anchovies")).json()["total"] == 1


async def test_a_spreadsheet_runs_nothing_that_a_caller_said(desk, clinic):
    formula = '=HYPERLINK("http://evil.example";"pizza, with anchovies")'
    async with desk() as served:
        name = await stored(served.records, clinic, [formula])
        refusals = await served.get("/api/refusals.csv")
        calls = await served.get("/api/calls.csv")
    for reply in (refusals, calls):
        assert reply.headers["content-type"].startswith("text/csv")
        assert "attachment" in reply.headers["content-disposition"]
    (row,) = csv.DictReader(io.StringIO(refusals.text))
    assert row["heard"] == f"'{formula}"
    (row,) = csv.DictReader(io.StringIO(calls.text))
    assert (row["id"], row["refused"]) == (name, "1")


async def test_health_says_whether_calls_are_recorded(desk, clinic):
    async with desk() as served:
        await stored(served.records, clinic)
        health = (await served.get("/api/health")).json()
        assert health == {
            "status": "ok", "trouble": "", "live": 0, "stored": 1,
            "kb": clinic.kb.sha256[:16],
        }  # fmt: skip


async def test_without_its_database_the_console_says_so_and_calls_go_on(desk, clinic, monkeypatch):
    monkeypatch.setenv("NO_DATABASE", "postgresql://nobody:secret@127.0.0.1:1/none")
    async with desk(records_database="NO_DATABASE") as served:
        async with asyncio.timeout(20):
            while "failed" not in served.records.trouble:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        for path in ("/api/calls", "/api/refusals", "/api/calls/x", "/api/calls.csv"):
            reply = await served.get(path)
            assert reply.status_code == 503, path
            assert "secret" not in reply.text
        health = (await served.get("/api/health")).json()
        assert (health["status"], health["stored"]) == ("trouble", None)
        assert "secret" not in health["trouble"]
        record = served.records.begin("CA1", **KNOWN)
        talk(record, clinic, [SATURDAY])
        assert record.path.read_text().count("\n") > 5


async def test_reports_and_demand_are_of_the_days_that_are_asked_for(desk, clinic):
    async with desk() as served:
        await stored(served.records, clinic, [SATURDAY, PIZZA])
        report = (await served.get("/api/report")).json()
        assert (report["total"]["calls"], report["total"]["refused"]) == (1, 1)
        assert len(report["parts"]) == 7
        wanted = (await served.get("/api/demand")).json()
        (cluster,) = wanted["clusters"]
        assert cluster["wordings"][0]["heard"] == PIZZA
        for link in (report["csv"], wanted["csv"]):
            reply = await served.get(link)
            assert reply.headers["content-type"].startswith("text/csv"), link
        assert PIZZA in reply.text
        kept = await served.get(report["html"])
        assert kept.headers["content-disposition"].startswith("attachment")
        none = (await served.get("/api/report?since=2020-01-01&until=2020-01-07")).json()
        assert none["total"]["calls"] == 0
        for path in ("/api/report", "/api/report.csv", "/api/report.html", "/api/demand"):
            for query in ("since=x", "since=2026-01-02&until=2026-01-01", "until=9999-12-31"):
                reply = await served.get(f"{path}?{query}")
                assert reply.status_code == 400, (path, query)
