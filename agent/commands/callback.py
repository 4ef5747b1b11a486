"""Have the running agent call somebody back: off until [outbound] says who may be called.

  frontdesk callback +15555550142
  frontdesk callback +15555550142 --say "Your prescription is ready." --wait
Exit 1 if it was not answered (with --wait), 2 if the call was not placed.
"""

from __future__ import annotations

import argparse
import json
import time

import httpx

from agent.settings import load_settings
from frontdesk import ConfigError
from telephony.local_key import headers_for

_TIMEOUT_S = 15.0
_LOOK_EVERY_S = 0.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("number", help="whom to call: +15555550142")
    parser.add_argument("--say", default="", metavar="TEXT", help="what for (default: settings)")
    parser.add_argument("--wait", action="store_true", help="until it is answered, or is not")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(args: argparse.Namespace) -> int:
    """0 when the call was placed, 1 when nobody answered."""
    settings = load_settings()
    # The key is for loopback: a server on every address is on that one too.
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(settings.server.host, settings.server.host)
    url = f"http://{host}:{settings.server.port}"
    headers = headers_for(url)
    # Plain HTTP on this machine: the certificate store need not be loaded.
    with httpx.Client(
        base_url=url, headers=headers, timeout=_TIMEOUT_S, trust_env=False, verify=False
    ) as client:
        placed = _ask(client, "POST", "/outbound", json={"to": args.number, "say": args.say})
        while args.wait and placed["state"] == "ringing":
            time.sleep(_LOOK_EVERY_S)
            placed = _ask(client, "GET", f"/outbound/{placed['id']}")
    if args.json:
        print(json.dumps(placed, indent=2))
    else:
        print(" ".join(filter(None, (placed["state"], placed["call"]))))
        print("its record, once it is over: frontdesk calls list")
    return 1 if placed["state"] in ("not answered", "failed") else 0


def _ask(client: httpx.Client, method: str, path: str, **body: object) -> dict[str, str]:
    try:
        response = client.request(method, path, **body)  # type: ignore[arg-type]
        answer = response.json()
    except httpx.HTTPError:
        raise ConfigError(
            f"no agent at {client.base_url}; start it with: frontdesk serve"
        ) from None
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise ConfigError(f"what is at {client.base_url} is no Frontdesk; see server.port")
    if response.is_error:
        raise ConfigError(str(answer.get("problem", f"refused ({response.status_code})")))
    return {name: str(value) for name, value in answer.items()}
