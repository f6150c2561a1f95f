"""A job's code as it was at a git revision, and the revision of the code as it is.

The revision is unpacked into a temporary folder by `git archive`, not checked out as a worktree: nothing is written
into the repository, so that a killed gate leaves nothing there, and a read-only clone will do.
"""

from __future__ import annotations

import os
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from profiler.errors import ProfileError, UsageError
from profiler.versions import Moved

_SHOWN = 10
"""Characters of a commit's name that are shown."""


@contextmanager
def unpacked(revision: str, place: Path) -> Iterator[tuple[str, Moved]]:
    """Unpack a revision of the repository that a file or folder lies in; yield its commit and where it is."""
    root = _root(place)
    if root is None:
        raise UsageError(
            f"{place} is in no git repository, so it has no revision '{revision}'.",
            hint="Name what to compare with otherwise: --against FILE or --baseline NAME.",
        )
    commit = _commit(revision, root)
    if commit is None:
        raise UsageError(
            f"The repository {root} has no revision '{revision}'.",
            hint="Fetch it first; a CI checkout holds one commit only unless told otherwise (fetch-depth: 0).",
        )
    with tempfile.TemporaryDirectory(prefix="profile-revision-") as folder:
        # Its real path: modules are told apart by where they lie.
        copy, archive = Path(folder).resolve() / "code", Path(folder) / "code.tar"
        _git(root, "archive", "--format=tar", f"--output={archive}", commit)
        with tarfile.open(archive) as files:
            files.extractall(copy, filter="tar")
        archive.unlink()
        yield commit, Moved(root, copy, f"revision {shown(commit)}")


def clean_commit(place: Path) -> str | None:
    """Return the commit that holds the code at a place as it is; None outside of a repository or with changes in it."""
    root = _root(place)
    if root is None or _answer(root, "status", "--porcelain", "--untracked-files=no"):
        return None
    tracked = _answer(root, "ls-files", "--", str(place.resolve()))
    return _commit("HEAD", root) if tracked else None


def shown(commit: str) -> str:
    """Shorten a commit's name for people."""
    return commit[:_SHOWN]


def _root(place: Path) -> Path | None:
    folder = place if place.is_dir() else place.parent
    root = _answer(folder, "rev-parse", "--show-toplevel")
    return Path(root).resolve() if root else None


def _commit(revision: str, root: Path) -> str | None:
    return _answer(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}") or None


def _answer(folder: Path, *arguments: str) -> str:
    """Ask git; nothing where it refuses."""
    asked = _run(folder, *arguments)
    return asked.stdout.strip() if asked.returncode == 0 else ""


def _git(folder: Path, *arguments: str) -> None:
    done = _run(folder, *arguments)
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["it does not say why"])[-1]
        raise ProfileError(f"git {arguments[0]} failed in {folder}: {reason}.", hint="Check the repository.")


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # Within a git hook these name another repository than the folder's.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        return subprocess.run(
            ["git", "-C", str(folder), *arguments], env=environment, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise ProfileError(
            "There is no git to ask for a revision.", hint="Install it, or name a file: --against FILE."
        ) from None
