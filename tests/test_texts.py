"""What the texts for people refer to is there, and a newcomer finds the way into the code."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "scripts" / "benches" / "results"
TEXTS = sorted([*ROOT.glob("*.md"), *RESULTS.glob("*.md"), *(ROOT / "examples").glob("*.md")])
STEP_2 = "increased          latency violated → sinks + R"


def links(text: Path) -> list[Path]:
    """Return the files that a text links to."""
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", text.read_text(encoding="utf-8"))
    return [(text.parent / target).resolve() for target in targets if "://" not in target]


def test_every_link_leads_somewhere() -> None:
    """A file that a text links to exists."""
    linked = [(text.name, target) for text in TEXTS for target in links(text)]
    assert len(linked) > 20
    assert [(text, target) for text, target in linked if not target.exists()] == []


def test_figures_that_docstrings_refer_to_are_there() -> None:
    """A docstring that names a file of results names one that exists."""
    named = {
        name
        for source in (ROOT / "profiler").rglob("*.py")
        for name in re.findall(r"scripts/benches/results/([\w-]+\.md)", source.read_text(encoding="utf-8"))
    }
    assert named
    assert sorted(name for name in named if not (RESULTS / name).exists()) == []


def test_every_file_of_results_is_in_their_index() -> None:
    """The index of results links to all of them."""
    assert set(links(RESULTS / "README.md")) == set(RESULTS.glob("*.md")) - {RESULTS / "README.md"}


def test_a_stranger_finds_step_2_in_three_hops() -> None:
    """From README, by links alone, the file that holds the paper's table of step 2 is near."""
    reached = {ROOT / "README.md"}
    for _ in range(3):
        reached |= {target for text in reached if text.suffix == ".md" for target in links(text) if target.is_file()}
    assert any(STEP_2 in file.read_text(encoding="utf-8") for file in reached)


def test_the_readme_is_short() -> None:
    """A newcomer reads README to the end."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
