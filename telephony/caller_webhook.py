"""The test caller's webhook: asked as the provider would ask it."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

import httpx

from frontdesk import WireError
from telephony.caller_socket import LOCAL_HOSTS
from telephony.far_end import Dialled, FarEnd


async def ask_webhook(
    url: str, far_end: FarEnd, headers: Mapping[str, str], timeout_s: float
) -> Dialled:
    """Announce the call to the agent's server at ``url``; where its answer says to connect.

    A path in ``url`` is taken in place of the provider's own.

    Raises:
        httpx.HTTPError: the server cannot be reached or answers with an error.
        WireError: the answer offers no media socket (the agent refused the call).
    """
    parts = urlsplit(url)
    request = far_end.request()
    if request is None:  # this wire begins with the socket
        socket = parts._replace(scheme=parts.scheme.replace("http", "ws", 1))
        if parts.path in ("", "/"):
            socket = socket._replace(path=far_end.path)
        return far_end.socket(socket.geturl())
    if parts.path in ("", "/"):
        url = parts._replace(path=request.path).geturl()
    # Loading the certificate store blocks the loop for some 20 ms: other calls would stutter.
    verify = parts.scheme == "https"
    trust_env = parts.hostname not in LOCAL_HOSTS
    async with httpx.AsyncClient(verify=verify, trust_env=trust_env, timeout=timeout_s) as client:
        response = await client.request(
            request.method, url, data=request.form, json=request.json, headers=dict(headers)
        )
    response.raise_for_status()
    where = far_end.dialled(response.text)
    if urlsplit(where.url).scheme not in ("ws", "wss"):
        raise WireError("its answer offers no media stream; the call was refused")
    return where
