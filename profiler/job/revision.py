"""A job's code as it was at a git revision, and the revision of the code as it is.

The revision is unpacked by `git archive`, not checked out as a worktree: nothing is written into the repository, so a
killed gate leaves nothing there, and a read-only clone will do. It lies in a run's folder in the cache, which the next
revision clears away where its process was killed. What an archive lacks are the submodules: their folders are empty.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from profiler.errors import ProfileError, UsageError
from profiler.job.loading import is_library, is_ours
from profiler.job.versions import Moved
from profiler.services.run_folder import cache_directory, create_run_folder

FOLDER = "revisions"
"""The folder of the cache that revisions are unpacked into."""
_NEEDED_BYTES = 200_000_000
"""Bytes that a large repository takes, as an archive and unpacked."""
_SHOWN = 10
"""Characters of a commit's name that are shown."""


@contextmanager
def unpacked(revision: str, place: Path) -> Iterator[tuple[str, Moved]]:
    """Unpack a revision of the repository that a file or folder lies in; yield its commit and where it is."""
    root = _root(place)
    if root is None:
        _require_git_s_trust(place)
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
    with _folder_outside(root) as folder:
        # Its real path: modules are told apart by where they lie.
        copy, archive = folder.resolve() / "code", folder / "code.tar"
        _git(root, "archive", "--format=tar", f"--output={archive}", commit)
        with tarfile.open(archive) as files:
            files.extractall(copy, filter="tar")
        archive.unlink()
        yield commit, Moved(root, copy, f"revision {shown(commit)}")


@contextmanager
def _folder_outside(root: Path) -> Iterator[Path]:
    """Make a folder for a while; a cache within the repository is no place, as a copy there would be taken for code."""
    cache = cache_directory() / FOLDER
    if cache.resolve().is_relative_to(root):
        with tempfile.TemporaryDirectory(prefix="profile-revision-") as name:
            yield Path(name)
        return
    with create_run_folder(cache, needed_bytes=_NEEDED_BYTES) as run:
        yield run.data


def empty_submodules(moved: Moved) -> tuple[str, ...]:
    """Return the folders of an unpacked revision whose content is in other repositories, and is not there."""
    if not (moved.copy / ".gitmodules").is_file():
        return ()
    # It is a file in git's own format, with an entry `submodule.NAME.path` each; names may have blanks.
    file = str(moved.copy / ".gitmodules")
    listed = _answer(moved.root, "config", "-z", "--file", file, "--get-regexp", r"^submodule\..*\.path$")
    return tuple(entry.partition("\n")[2] for entry in listed.split("\0") if entry)


def clean_commit(place: Path) -> str | None:
    """Return the commit that holds the code at a place as it is; None outside of a repository or with changes in it.

    Code that was loaded, and that git does not know or keeps in a submodule, is in no commit of the repository.
    """
    root = _root(place)
    if root is None or _answer(root, "status", "--porcelain", "--untracked-files=no"):
        return None
    tracked = _answer(root, "ls-files", "--", str(place.resolve()))
    return _commit("HEAD", root) if tracked and not _untracked(_loaded_files(root), root) else None


def _loaded_files(root: Path) -> set[Path]:
    """Return the files below a folder that were imported; libraries and the profiler itself are no part of a job."""
    named = [
        Path(file)
        for name, module in list(sys.modules.items())
        if name != "__main__" and not is_ours(name)
        if isinstance(file := getattr(module, "__file__", None), str)
    ]
    real = {file.resolve() for file in named if not is_library(file) and file.is_file()}
    return {file for file in real if file.is_relative_to(root) and not is_library(file)}


def _untracked(files: set[Path], root: Path) -> set[Path]:
    if not files:
        return files
    listed = _answer(root, "ls-files", "-z", "--", *map(str, sorted(files)))
    return files - {root / name for name in listed.split("\0")}


def shown(commit: str) -> str:
    """Shorten a commit's name for people."""
    return commit[:_SHOWN]


def _require_git_s_trust(place: Path) -> None:
    """Pass on what git says of a repository that another user owns, as in many a container: it asks to be told so."""
    said = _run(_folder(place), "rev-parse", "--show-toplevel").stderr
    if "safe.directory" in said:
        raise UsageError(
            f"git does not use the repository of {place}, as another user owns it.",
            hint=f"Tell git that you trust it: {said.strip().splitlines()[-1].strip()}",
        )


def _folder(place: Path) -> Path:
    return place if place.is_dir() else place.parent


def _root(place: Path) -> Path | None:
    root = _answer(_folder(place), "rev-parse", "--show-toplevel")
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
