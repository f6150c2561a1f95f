"""The workloads that ship with the profiler, under a name that no package of a user's has.

They stand in the folder `workloads/` beside this package, or in this folder where the profiler is installed. Were they
imported as `workloads`, a user's own package of that name could not be, or would be taken for theirs.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

_HERE = Path(__file__).parent

FOLDER = _HERE if (_HERE / "catalogue.py").is_file() else _HERE.parents[1] / "workloads"
"""The folder in which their files are."""

__path__ = [str(FOLDER)]
_catalogue = import_module(f"{__name__}.catalogue")


def _placed(catalogue: dict[str, str]) -> dict[str, str]:
    return {name: f"{__name__}.{place}" for name, place in catalogue.items()}


WORKLOADS = _placed(_catalogue.WORKLOADS)
"""The place of every workload, as `module:attribute`, by its name."""
DATA = _placed(_catalogue.DATA)
"""The place of the maker of a source's data, by the name that stands for the data."""
