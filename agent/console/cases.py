"""A call with an answer that a person marked wrong becomes a case to replay."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from agent.privacy import kept_values, stand_ins
from agent.records.retention import CASES
from agent.replay import Models
from agent.replay.case import write_case
from agent.replay.export import exported
from agent.retrieval import policy_of
from agent.settings import Settings
from rag import Index


class Cases:
    """Cases in ``cases/`` beside the records; ``index`` gives the index in service."""

    def __init__(self, settings: Settings, index: Callable[[], Index]) -> None:
        self._settings = settings
        self._index = index

    def keep(self, call: str, wrong: Mapping[int, str]) -> str:
        """Write the case of ``call``; its file's name, or "" where no answer is wrong.

        ``wrong`` has what a person noted of each wrong answer, by its place among the call's
        verdicts, from 1. It replays the call, so it takes about 20 ms a turn; not in a loop.

        Raises:
            ConfigError: the record is not there, or cannot be replayed.
            OSError: the case cannot be written.
        """
        folder = self._settings.records.folder
        path = folder / CASES / f"{call}.json"
        if not wrong:
            path.unlink(missing_ok=True)
            return ""
        index = self._index()
        keep = kept_values(index.kb.texts.values())
        done = asyncio.run(
            exported(
                folder / f"{call}.jsonl",
                index,
                policy_of(self._settings),
                lambda text: stand_ins(text, keep),
                Models(rules=self._settings.handover.rules()),
                known=wrong,
            )
        )
        path.parent.mkdir(mode=0o700, exist_ok=True)
        write_case(done.case, path)
        return path.name
