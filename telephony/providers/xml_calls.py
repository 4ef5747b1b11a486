"""What Twilio, Telnyx and Plivo share: webhooks that are forms, and answers in XML."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar
from xml.sax.saxutils import escape

from frontdesk.errors import TransferProblem
from telephony.provider import RING_S, Answer, Incoming, Webhook, is_sip
from telephony.providers.streaming import Streaming
from telephony.start import identifier, number
from telephony.xml import attribute, document, without_forbidden

_ANSWERED = frozenset({"completed", "answered"})
_PROBLEMS: Mapping[str, TransferProblem] = MappingProxyType(
    {"busy": "busy", "failed": "unreachable"}
)


class XmlCalls(Streaming):
    """A provider that is told what to do in XML."""

    call_field: ClassVar[str] = "CallSid"
    """Of a webhook's form: the call's id."""
    status_field: ClassVar[str] = "DialCallStatus"
    """Of the form that tells the end of a dial."""
    speaks: ClassVar[str] = "Say"
    """The element whose text is said."""

    def incoming(self, hook: Webhook) -> Incoming:
        """The call of a voice webhook."""
        return Incoming(
            self.kept_id(hook.form, self.call_field),
            number(hook.form.get("From", "")),
            number(hook.form.get("To", "")),
        )

    def kept_id(self, fields: Mapping[str, Any], name: str) -> str:
        """The call's id ``name`` in ``fields`` as a ``CallStart`` may keep it."""
        return identifier(fields, name)

    def refuse(self, sentence: str) -> Answer:
        """XML that says ``sentence`` in the provider's voice and hangs up."""
        return xml(self._said(sentence) + "<Hangup/>")

    def hung_up(self) -> Answer:
        """XML that hangs up."""
        return xml("<Hangup/>")

    def whisper(self, sentence: str) -> Answer:
        """XML that says ``sentence``."""
        return xml(self._said(sentence))

    def transferred(self, hook: Webhook) -> bool:
        """By the status that comes to a Dial's action URL."""
        return hook.form.get(self.status_field) in _ANSWERED

    def transfer_problem(self, hook: Webhook) -> TransferProblem:
        """By the same status."""
        return _PROBLEMS.get(hook.form.get(self.status_field, ""), "no answer")

    def _said(self, sentence: str) -> str:
        return element(self.speaks, sentence)


def xml(inner: str) -> Answer:
    """The answer with ``inner`` in its ``<Response>``."""
    return Answer(document(inner), "application/xml")


def element(name: str, text: str, **attributes: str) -> str:
    """``<name …>text</name>``, escaped; an attribute that is empty is left out.

    Values may hold anything a caller sent: characters that XML forbids are dropped.
    """
    given = "".join(f" {key}={attribute(value)}" for key, value in attributes.items() if value)
    return f"<{name}{given}>{escape(without_forbidden(text))}</{name}>"


def stream(url: str, parameters: Mapping[str, str], **attributes: str) -> str:
    """``<Connect><Stream>`` to the media socket at ``url``, as Twilio and Telnyx have it.

    ``parameters`` come back in the start message. When the agent closes the socket, the provider
    goes on after ``<Connect>``, finds nothing, hangs up.
    """
    inner = "".join(
        f"<Parameter name={attribute(name)} value={attribute(value)}/>"
        for name, value in parameters.items()
    )
    given = "".join(f" {key}={attribute(value)}" for key, value in attributes.items())
    return f"<Connect><Stream url={attribute(url)}{given}>{inner}</Stream></Connect>"


def dial(to: str, *, then: str, whisper: str) -> str:
    """``<Dial>`` of ``to``, a number or a SIP address; ``then`` is told how that ended.

    ``whisper`` is asked for XML once somebody picks up, and the two are joined after it. Twilio
    and Telnyx have it so.
    """
    target = element("Sip" if is_sip(to) else "Number", to, url=whisper)
    return f'<Dial timeout="{RING_S}" action={attribute(then)}>{target}</Dial>'
