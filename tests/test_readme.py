"""The README's figures are those of the result files, and its links lead somewhere."""

import re

from bench import readme


def test_figures_come_from_the_result_files():
    text = readme.README.read_text("utf-8")
    assert "<!-- figures: calls -->" in text
    assert readme.rendered(text) == text, "run: python -m bench.readme"


def test_links_lead_somewhere():
    root = readme.README.parent
    pages = [readme.README, *(root / "docs").glob("*.md")]
    assert len(pages) > 4
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text("utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"
