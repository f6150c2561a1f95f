"""Write the golden files anew: `python -m tests.golden.rewrite [CASE…]`, as in `… gate/unchanged`.

It is right only where a change of what `profile` says, writes or answers is wanted: then call it, read every line of
`git diff tests/golden/expected`, and commit the difference together with the change that explains it. It is wrong where
code was moved, renamed or typed only: a difference is a defect of that move then, and what has to change is the code.
"""

from __future__ import annotations

import shutil
import sys

from tests.golden.registry import EXPECTED, all_cases, texts_of


def main(wanted: list[str]) -> None:
    """Write the golden files of the wanted cases, or of all."""
    cases = all_cases()
    if not wanted:
        shutil.rmtree(EXPECTED, ignore_errors=True)
    for name in wanted or cases:
        texts = texts_of(cases[name])
        folder = EXPECTED / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for file, text in texts.items():
            (folder / file).write_bytes(text.encode())


if __name__ == "__main__":
    main(sys.argv[1:])
