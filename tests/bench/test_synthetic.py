from collections import Counter

import pytest

from bench import synthetic
from rag.language import language_of
from rag.sentences import split_sentences
from rag.types import Decision


@pytest.mark.parametrize("language", synthetic.LANGUAGES)
def test_every_fact_holds_what_answers_its_question(language):
    one = synthetic.business(language, 12345)
    assert len(one.facts) == (32 if language == "en" else 22)
    for fact in one.facts:
        assert "{" not in fact.text + fact.question
        assert fact.says in split_sentences(fact.text)[0]
        assert language_of(fact.text) == language_of(fact.question) == language
    assert all(language_of(text) == language for text in one.absent)


def test_texts_are_distinct_and_the_same_on_every_machine():
    texts = [fact.text for one in synthetic.businesses(20_000) for fact in one.facts]
    assert len(set(texts)) == len(texts) == 20_000
    first = synthetic.business("en", 0)
    assert first.document == "kb-en-000000"
    assert first.facts[0].text == (
        "On Monday Maple Ridge Dental in Ashford is open from 10 a.m. to 8 p.m."
    )
    assert synthetic.business("en", 0, seed=1).facts != first.facts


def test_past_the_last_name_businesses_are_branches():
    names = 12 * 10 * 12
    assert (
        synthetic.business("ta", names).facts[0].text != synthetic.business("ta", 0).facts[0].text
    )
    assert " 2 " in synthetic.business("ta", names).facts[0].text


def test_more_passages_are_those_before_and_others():
    few = [(one.document, fact) for one in synthetic.businesses(500) for fact in one.facts]
    many = [(one.document, fact) for one in synthetic.businesses(900) for fact in one.facts]
    assert set(few) < set(many)
    counts = Counter(one.language for one in synthetic.businesses(6000) for _ in one.facts)
    assert counts == dict.fromkeys(synthetic.LANGUAGES, 1000)


def test_questions_are_balanced_and_their_passages_are_there():
    passages = {
        f"{one.document}#{n}": fact
        for one in synthetic.businesses(2000)
        for n, fact in enumerate(one.facts, 1)
    }
    found = synthetic.questions(2000, 600)
    assert Counter(q.kind for q in found) == dict.fromkeys(synthetic.LANGUAGES, 100)
    refused = [q for q in found if q.decision is Decision.REFUSED]
    assert Counter(q.kind for q in refused) == dict.fromkeys(synthetic.LANGUAGES, 10)
    for question in found:
        if question not in refused:
            fact = passages[question.relevant[0]]
            assert (question.text, question.facts) == (fact.question, ((fact.says,),))
    other = {q.text for q in synthetic.questions(2000, 600, draw=1)}
    assert len(other & {q.text for q in found}) < 300


def test_documents_that_are_there_are_left_alone(tmp_path):
    synthetic.write_documents(tmp_path, synthetic.businesses(100, ["en"]))
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert min(before) == "kb-en-000000.md"
    synthetic.write_documents(tmp_path, synthetic.businesses(130, ["en"]))
    after = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    unchanged = {name for name, at in before.items() if after[name] == at}
    assert unchanged == {f"kb-en-{n:06}.md" for n in range(3)}
    assert set(after) == {f"kb-en-{n:06}.md" for n in range(5)}
