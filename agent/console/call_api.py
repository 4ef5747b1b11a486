"""One call: its chain of evidence, its recording, its record, and what a person marks on it."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from agent.console import asked, rows, turns
from agent.console.asked import BadRequest
from agent.console.cases import Cases
from agent.console.passages import Passages
from agent.console.recording import Recording, byte_range
from agent.console.replies import Json, endpoint
from agent.console.threads import Threads
from agent.records.keeper import Records
from agent.records.store import CallRow
from frontdesk import ConfigError, WireError

LABELS = frozenset({"right", "wrong", "doubtful"})
_MAX_NOTE = 1000
_MAX_BUCKETS = 4000
_BY = "console"
_NO_CALL = "there is no such call"
_NO_RECORDING = "this call has no recording"


class CallApi:
    """Routes over the store of ``records``; they and recordings are files in ``folder``."""

    def __init__(
        self,
        records: Records,
        folder: Path,
        passages: Passages,
        cases: Cases,
        threads: Threads,
    ) -> None:
        self._records = records
        self._folder = folder
        self._passages = passages
        self._cases = cases
        self._threads = threads

    def routes(self) -> list[BaseRoute]:
        """All of them."""
        return [
            Route("/api/calls/{id}", self.call),
            Route("/api/calls/{id}/audio", self.audio),
            Route("/api/calls/{id}/peaks", self.peaks),
            Route("/api/calls/{id}/record", self.record),
            Route("/api/calls/{id}/marks", self.mark, methods=["POST"]),
        ]

    @endpoint
    async def call(self, request: Request) -> Response:
        """Everything that its page shows."""
        return Json(await self._threads.run(self._whole, asked.call_id(request)))

    @endpoint
    async def record(self, request: Request) -> Response:
        """The record itself, as it was written; of a call in progress, as far as it goes."""
        name = f"{asked.call_id(request)}.jsonl"
        try:  # whole: a file that grows while it is sent outgrows the length that was promised
            content = await self._threads.run((self._folder / name).read_bytes)
        except OSError:
            raise BadRequest("the record of this call is not here", 404) from None
        kept = f'attachment; filename="{name}"'
        headers = {"Content-Disposition": kept}
        return Response(content, media_type="application/jsonl", headers=headers)

    @endpoint
    async def audio(self, request: Request) -> Response:
        """The recording as PCM, any range of it."""
        recording = await self._threads.run(self._recording, asked.call_id(request))
        size = recording.size
        headers = {"Accept-Ranges": "bytes"}
        try:
            part = byte_range(request.headers.get("range", ""), size)
        except ValueError:
            return Response(status_code=416, headers={"Content-Range": f"bytes */{size}"})
        start, end = part or (0, size)
        if part:
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
        headers["Content-Length"] = str(end - start)
        status = 206 if part else 200
        if request.method == "HEAD":
            return Response(status_code=status, headers=headers, media_type="audio/wav")
        return StreamingResponse(recording.pcm(start, end), status, headers, "audio/wav")

    @endpoint
    async def peaks(self, request: Request) -> Response:
        """How loud both sides are over the call."""
        buckets = asked.number(request, "buckets", 800, 1, _MAX_BUCKETS)
        return Json(await self._threads.run(self._peaks, asked.call_id(request), buckets))

    @endpoint
    async def mark(self, request: Request) -> Response:
        """Mark a turn; what was marked wrong becomes a case to replay."""
        name = asked.call_id(request)
        content = await asked.body(request)
        label = asked.text_of(content, "label", 20)
        note = asked.text_of(content, "note", _MAX_NOTE)
        turn = content.get("turn")
        if label not in LABELS:
            raise BadRequest(f"label takes one of: {', '.join(sorted(LABELS))}")
        if not isinstance(turn, int) or isinstance(turn, bool):
            raise BadRequest("turn takes the number of a turn")
        shown = await self._threads.heavy(self._mark, name, turn, label, note)
        return Json(shown, 201)

    def _whole(self, name: str) -> dict[str, Any]:
        row = self._row(name)
        events = self._records.store.events(name)
        chain = turns.chain(events, self._passages)
        marks = self._marks(name)
        for turn in chain:
            turn["marks"] = [one for number, one in marks if number == turn["turn"]]
        counts = [one["label"] for one in dict(marks).values()]  # the last one of each turn
        audio = self._audio(row, f"/api/calls/{name}")
        path = f"/api/calls/{name}"
        return {
            "call": rows.call_json(row)
            | {
                "recording": audio is not None,
                "marks": {label: counts.count(label) for label in sorted(LABELS)},
                "versions": row.versions,
                "events": row.events,
                "head": row.head,
            },
            "audio": audio,
            "record": f"{path}/record",
            "turns": chain,
            "prompts": turns.prompts(events),
            "events": turns.lines(events),
        }

    def _row(self, name: str) -> CallRow:
        row = self._records.store.call(name)
        if row is None:
            raise BadRequest(_NO_CALL, 404)
        return row

    def _audio(self, row: CallRow, path: str) -> dict[str, Any] | None:
        try:
            recording = self._recording(row.id)
        except BadRequest:
            return None
        seconds = round(recording.seconds, 3)
        return {"url": f"{path}/audio", "peaks": f"{path}/peaks", "seconds": seconds}

    def _recording(self, name: str) -> Recording:
        """The file beside the record; its name is the call's, which has no path in it."""
        try:
            return Recording.open(self._folder / f"{name}.wav")
        except (OSError, WireError):
            raise BadRequest(_NO_RECORDING, 404) from None

    def _peaks(self, name: str, buckets: int) -> dict[str, Any]:
        recording = self._recording(name)
        caller, agent = _levels(recording, buckets)
        return {"seconds": round(recording.seconds, 3), "caller": caller, "agent": agent}

    def _mark(self, name: str, turn: int, label: str, note: str) -> dict[str, Any]:
        self._row(name)
        events = self._records.store.events(name)
        numbers = [event.get("turn") for event in events if event.get("event") == "verdict"]
        if turn not in numbers:
            raise BadRequest("there is no such turn in this call", 404)
        self._records.store.mark(name, turn, label, note, _BY)
        marks = self._marks(name)
        wrong = {
            numbers.index(number) + 1: one["note"]
            for number, one in dict(marks).items()  # the last one of each turn
            if one["label"] == "wrong" and number in numbers
        }
        try:
            case, problem = self._cases.keep(name, wrong), ""
        except (ConfigError, OSError) as error:
            case, problem = "", f"marked, but no case was made of it: {error}"
        of_turn = [one for number, one in marks if number == turn]
        return {"marks": of_turn, "case": case, "problem": problem}

    def _marks(self, name: str) -> list[tuple[int, dict[str, Any]]]:
        """Turn and mark, the oldest first."""
        return [
            (
                one.turn,
                {
                    "label": one.label, "note": one.note, "by": one.by,
                    "at": rows.moment(one.at),
                },
            )
            for one in self._records.store.marks_in(name)
        ]  # fmt: skip


@functools.lru_cache(maxsize=32)
def _levels(recording: Recording, buckets: int) -> tuple[list[float], list[float]]:
    """Peaks of both sides; one more frame of a growing file makes it another recording."""
    caller, agent = recording.peaks(buckets)
    return ([round(float(x), 3) for x in caller], [round(float(x), 3) for x in agent])
