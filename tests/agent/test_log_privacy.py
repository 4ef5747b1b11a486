"""No line of any logger shows a number, a token or a key."""

import logging
import subprocess
import sys

from agent.http_guard import QuietLines
from telephony.tokens import Tokens

TOKEN = Tokens(b"x" * 32).mint("twilio", "CA1")


def test_lines_and_exceptions_of_our_log_are_masked():
    code = (
        "from agent.cli import quiet_logs\nfrom loguru import logger\nimport logging, sys\n"
        "quiet_logs('INFO')\n"
        "logger.add(sys.stdout, level='INFO', format='{message}', backtrace=False)\n"
        f"logger.info('a call from {{}} with {{}}', '+15555550100', '{TOKEN}')\n"
        "try: raise ValueError('+15555550122')\n"
        "except ValueError: logger.exception('odd')\n"
        f"logging.getLogger('other').warning('%s knocks', '{TOKEN}')\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "a call from …00 with [token]" in ran.stdout
    assert "a call from …00 with [token]" in ran.stderr
    assert "ValueError: …22" in ran.stderr
    assert "[token] knocks" in ran.stderr
    for text in (ran.stderr, ran.stdout.partition("odd")[0]):
        assert TOKEN not in text
        assert "5555550" not in text


def test_the_servers_own_lines_come_once_a_burst_and_masked():
    quiet = QuietLines()

    def said(*args):
        record = logging.LogRecord("uvicorn.error", logging.WARNING, "", 1, *args, None)
        return record.getMessage() if quiet.filter(record) else None

    assert said("%s from %s", ("Odd request", "+15555550100")) == "Odd request from …00"
    assert said("%s from %s", ("Odd request", "+15555550101")) is None
    assert said("Invalid HTTP request received.", ()) == "Invalid HTTP request received."
