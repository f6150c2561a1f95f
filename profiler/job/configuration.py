"""What a trial deploys: the number of tasks of every source and operator, and how many slots that needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Configuration:
    """Tasks per element (sources and operators, by name); hashable, so that trials can be told apart.

    `offered_per_s` is the limit set by throttling the source: None means as much as the source can pull.
    """

    items: tuple[tuple[str, int], ...]
    offered_per_s: float | None = None

    @classmethod
    def of(cls, tasks: Mapping[str, int], offered_per_s: float | None = None) -> Configuration:
        """Build a configuration from a mapping, keeping its order (sources first, then operators downstream)."""
        return cls(tuple(tasks.items()), offered_per_s)

    @property
    def tasks(self) -> dict[str, int]:
        """Tasks per element, as a mapping."""
        return dict(self.items)

    @property
    def slots(self) -> int:
        """Slots the configuration needs: all stages of a real-time query run at once, so every task needs one."""
        return sum(count for _, count in self.items)

    def __getitem__(self, name: str) -> int:
        return self.tasks[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tasks)

    def with_tasks(self, changes: Mapping[str, int]) -> Configuration:
        """Return a copy in which the named elements have other task counts."""
        return Configuration(tuple((name, changes.get(name, count)) for name, count in self.items), self.offered_per_s)

    def plus(self, additions: Mapping[str, int]) -> Configuration:
        """Return a copy in which the named elements have that many more tasks."""
        return self.with_tasks({name: self[name] + more for name, more in additions.items()})

    def throttled(self, offered_per_s: float | None) -> Configuration:
        """Return a copy with another limit on the offered rate."""
        return Configuration(self.items, offered_per_s)

    def __str__(self) -> str:
        counts = "(" + ",".join(str(count) for _, count in self.items) + ")"
        return counts if self.offered_per_s is None else f"{counts} ≤ {self.offered_per_s:.0f}/s"
