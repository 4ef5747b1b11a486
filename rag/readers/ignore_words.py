"""How "ignore your instructions" is said in languages other than English.

A sentence says it if it holds a word of each of three kinds: which (all, previous, your), what
(instructions, rules) and the verb; and no word for "not", since "do not forget your instructions"
is what a clinic writes.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Words:
    """Beginnings of words; of ``no`` also endings, where a language writes "not" so."""

    which: str
    what: str
    verb: str
    no: str


_LANGUAGES = (
    # Hindi
    _Words(
        "पिछल पूर्व पहले सभी सारे अपने आपके उपरोक्त ऊपर",
        "निर्देश आदेश नियम",
        "अनदेख नज़रअंदाज़ नजरअंदाज नज़र नजर उपेक्षा भूल",
        "न ना मत नहीं",
    ),
    # Gujarati
    _Words("અગાઉ પાછલ પહેલા બધ તમાર ઉપર", "સૂચના નિર્દેશ આદેશ", "અવગણ ભૂલ નજરઅંદાજ", "ન ના નહીં નહિ"),
    # Bengali
    _Words("পূর্ব আগের সব সকল সমস্ত তোমার আপনার উপরের", "নির্দেশ আদেশ", "উপেক্ষা অগ্রাহ্য ভুলে", "না"),
    # Tamil
    _Words(
        "முந்தைய முன் அனைத்து எல்லா உங்கள் மேலே",
        "வழிமுறை அறிவுறுத்தல கட்டளை விதி",
        "புறக்கணி மறந்து மற நிராகரி",
        "வேண்டாம் -காதீர்கள் -ாதீர்கள்",
    ),
    # Telugu
    _Words("మునుపటి గత ముందు అన్ని మీ పై", "సూచన ఆదేశ నియమ", "విస్మరి మరచి మర్చి", "-వద్దు -కండి"),
    # Spanish, Portuguese, Italian
    _Words(
        "todas todos toda tus sus las previas anteriores as suas suas os tutte tue le precedenti",
        "instrucciones indicaciones reglas instruções instrucoes istruzioni regole",
        "ignor olvid omit esqueç esquec dimentic",
        "no nunca não nao non mai",
    ),
    # French
    _Words(
        "toutes tous tes vos les précédentes", "instructions consignes règles", "ignor oubli",
        "ne n'oubli n'ignor pas jamais",
    ),
    # German
    _Words(
        "alle aller deine ihre eure vorherig bisherig obig die",
        "anweisung instruktion regeln vorgaben",
        "ignorier vergiss vergess missacht",
        "nicht nie niemals",
    ),
    # Russian
    _Words(
        "все всех предыдущ прежни свои твои ваши",
        "инструкци указани правил",
        "игнорир забуд",
        "не",
    ),
)  # fmt: skip
_MACHINE = (
    r"भाषा मॉडल|सिस्टम प्रॉम्प्ट|एआई सहायक|ભાષા મોડેલ|ভাষা মডেল|மொழி மாதிரி|భాషా నమూనా"
    r"|modelo de (?:lenguaje|linguagem)|mod[eè]le de langage|sprachmodell|modello linguistico"
    r"|языков(?:ая|ой) модел\w*|(?:语言|語言)模型"
)
# Chinese and Japanese write no spaces.
_UNSPACED = (
    r"(?:忽略|无视|無視|忘记|忘記)[^。！？\n]{0,12}?(?:指令|指示|提示|说明|規則|规则)"
    r"|(?:指示|命令|指令)[^。！？\n]{0,6}?(?:無視|忘れ)"
)
_WHOLE = re.compile(unicodedata.normalize("NFKC", f"{_MACHINE}|{_UNSPACED}"), re.I)
_SENTENCE = re.compile(r"[^.!?।\n]+")
_FARTHEST = 90
"""Characters from the first of the three words to the last."""


def _begins(stems: str) -> str:
    starts = [re.escape(stem) for stem in stems.split() if stem[0] != "-"]
    return rf"(?<!\S)(?:{'|'.join(starts)})" if starts else ""


def _negates(words: str) -> str:
    whole = [re.escape(word) for word in words.split() if word[0] != "-"]
    ends = [re.escape(word[1:]) for word in words.split() if word[0] == "-"]
    parts = [rf"(?<!\S)(?:{'|'.join(whole)})(?![^\s,;])"] if whole else []
    parts += [rf"(?:{'|'.join(ends)})(?![^\s,;])"] if ends else []
    return "|".join(parts)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(unicodedata.normalize("NFKC", text), re.I)


_VERBS = tuple(
    unicodedata.normalize("NFKC", stem) for one in _LANGUAGES for stem in one.verb.split()
)
_PATTERNS = tuple(
    (*(_pattern(_begins(part)) for part in (one.which, one.what, one.verb)),
     _pattern(_negates(one.no)))
    for one in _LANGUAGES
)  # fmt: skip


def foreign_instruction(text: str) -> str:
    """The words of ``text`` (NFKC) that tell a model to ignore its instructions; empty for none."""
    whole = _WHOLE.search(text)
    if whole:
        return whole.group()
    lower = text.lower()
    if not any(verb in lower for verb in _VERBS):
        return ""
    for sentence in _SENTENCE.findall(text):
        for which, what, verb, no in _PATTERNS:
            parts = [found for one in (verb, what, which) if (found := one.search(sentence))]
            if len(parts) < 3 or no.search(sentence):
                continue
            start, end = min(one.start() for one in parts), max(one.end() for one in parts)
            if end - start <= _FARTHEST:
                word, _, _ = sentence[end:].partition(" ")
                return str(sentence[start:end] + word)
    return ""
