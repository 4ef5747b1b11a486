"""The keys of one call, with the time that passes between them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pipecat.processors.frame_processor import FrameProcessor

from agent.keypad import KeyAction, Keypad, KeyPolicy, Unknown


class Keys:
    """Drives a :class:`agent.keypad.Keypad` by ``now_ms``; ``act`` is called with what keys do.

    ``tasks`` owns the task that waits for the next key. ``act`` must not wait.
    """

    def __init__(
        self,
        policy: KeyPolicy,
        tasks: FrameProcessor,
        now_ms: Callable[[], float],
        act: Callable[[KeyAction], None],
    ) -> None:
        self._policy = policy
        self._keypad = Keypad(policy)
        self._tasks = tasks
        self._now_ms = now_ms
        self._act = act
        self._waiting: asyncio.Task[None] | None = None

    def means(self, key: str) -> bool:
        """Whether ``key``, pressed now, does something."""
        return self._keypad.means(key)

    @property
    def is_typing(self) -> bool:
        """Whether the caller is in the middle of it."""
        return self._keypad.is_typing

    def is_for_a_person(self, key: str) -> bool:
        """Whether ``key`` alone asks for a person."""
        return not self.is_typing and key == self._policy.person

    def shown(self, key: str) -> str:
        """``key`` as a record may hold it: one that may be of a number is only "digit"."""
        of_a_number = self._policy.numbers or isinstance(self._policy.action(key), Unknown)
        return "digit" if key.isdigit() and of_a_number else key

    async def press(self, key: str) -> None:
        """The caller pressed ``key``."""
        await self._stop_waiting()
        for action in self._keypad.press(key, self._now_ms()):
            self._act(action)
        if self._keypad.deadline_ms is not None:
            self._waiting = self._tasks.create_task(self._wait())

    async def drop(self) -> None:
        """Leave no task behind, and nothing typed."""
        self._keypad.drop()
        await self._stop_waiting()

    async def _wait(self) -> None:
        while (deadline := self._keypad.deadline_ms) is not None:
            await asyncio.sleep(max(0.0, deadline - self._now_ms()) / 1000)
            for action in self._keypad.clock(self._now_ms()):
                self._act(action)

    async def _stop_waiting(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            await self._tasks.cancel_task(waiting)
