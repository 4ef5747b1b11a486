"""What may be seen once: nonces, token ids and signatures, until they are too old to count."""

from __future__ import annotations

from collections import OrderedDict

from frontdesk import ForbiddenError

_MAX_KEPT = 100_000


class Once:
    """Takes each key once for ``keep_s`` seconds, the longest that a signature is good for.

    Only keys whose signature was found right belong here, so that strangers cannot fill it. With
    ``max_kept`` of them none is taken: better no call than one twice.
    """

    def __init__(self, keep_s: float, *, max_kept: int = _MAX_KEPT) -> None:
        self._keep_s = keep_s
        self._max_kept = max_kept
        self._seen: OrderedDict[str, float] = OrderedDict()

    def spend(self, key: str, now: float) -> None:
        """Take ``key`` at ``now`` (seconds of a clock that goes forward).

        Raises:
            ForbiddenError: it was taken before, or too many were.
        """
        while self._seen and next(iter(self._seen.values())) <= now - self._keep_s:
            self._seen.popitem(last=False)
        if key in self._seen:
            raise ForbiddenError("a signature for the second time")
        if len(self._seen) >= self._max_kept:
            raise ForbiddenError("too many signatures at once")
        self._seen[key] = now
