"""Every setting, declared once: its key, how it is written, its default and what it is for.

A field of `Settings` is a key of the configuration file (`latency`), an environment variable (`PROFILE_LATENCY`)
and a flag (`--latency`). `profiler.settings.sources` fills it; the command line makes its flags from `OPTIONS`.
Nothing here imports an engine or a policy: `profile --help` must answer at once.
"""

# ruff: noqa: RUF009 - the defaults are declarations; no value is shared between instances that could change

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, TypeVar

from profiler.secrets import masked_setting
from profiler.settings.quantities import (
    BROKERS,
    Kind,
    choice,
    count,
    duration,
    number,
    ratio,
    switch,
    text,
    without_credentials,
)

T = TypeVar("T")


class EngineName(StrEnum):
    """The engine that the topology runs on."""

    SPARK = "spark"
    SIMULATED = "simulated"


class PolicyName(StrEnum):
    """The policy that searches the configuration."""

    STEPWISE = "stepwise"
    THRESHOLD = "threshold"
    STELA = "stela"
    DS2 = "ds2"
    SLOTS = "slots"
    EXHAUSTIVE = "exhaustive"


class NoiseName(StrEnum):
    """The kind of machine that the simulated engine plays."""

    QUIET = "quiet"
    SHARED = "shared"
    HOSTILE = "hostile"


class ExportKind(StrEnum):
    """Formats of a written report."""

    JSON = "json"
    CSV = "csv"
    MD = "md"
    JUNIT = "junit"
    HTML = "html"


@dataclass(frozen=True, slots=True)
class Export:
    """A report to write, and where."""

    kind: ExportKind
    path: str

    def __str__(self) -> str:
        return f"{self.kind}={self.path}"


@dataclass(frozen=True, slots=True)
class Option:
    """What is known of a setting besides its value."""

    field: str
    key: str
    kind: Kind[Any]
    default: Any
    purpose: str
    """One line for the help."""
    repeatable: bool
    unset: str
    """A phrase for what happens where nothing is set, for settings without a default."""

    @property
    def flag(self) -> str:
        """Name of the flag."""
        return f"--{self.key}"

    @property
    def variable(self) -> str:
        """Name of the environment variable."""
        return "PROFILE_" + self.key.upper().replace("-", "_")

    @property
    def is_switch(self) -> bool:
        """Tell whether its flag takes no value."""
        return isinstance(self.default, bool)

    def show(self, value: Any) -> str:
        """Write the value as it would be set, without any credentials in it."""
        if value is None or value == ():
            return self.unset
        written = ",".join(map(self.kind.show, value)) if self.repeatable else self.kind.show(value)
        return without_credentials(written)


def _option(key: str, kind: Kind[Any], default: T, purpose: str, *, repeatable: bool = False, unset: str = "none") -> T:
    """Declare a setting; typed as its default, so that reading it is typed too."""
    declared = {"key": key, "kind": kind, "purpose": purpose, "repeatable": repeatable, "unset": unset}
    return field(default=default, metadata=declared)


def _optional(key: str, kind: Kind[T], purpose: str, *, unset: str) -> T | None:
    return _option(key, kind, None, purpose, unset=unset)


def _export(written: str) -> Export:
    kind, separator, path = written.partition("=")
    if not separator or not path.strip():
        raise ValueError(written)
    return Export(ExportKind(kind.strip()), path.strip())


_MILLISECONDS = duration(unit_s=0.001)
_ADDRESS = text("an address", "localhost:9092", "HOST:PORT", BROKERS)
_URI = text("a MongoDB URI", "mongodb://localhost:27017", "URI", r"mongodb(?:\+srv)?://\S+")
_SPARK_SETTING = replace(
    text("a Spark setting", "spark.sql.execution.arrow.maxRecordsPerBatch=50", "KEY=VALUE", r"spark\.[\w.\-]+=.*"),
    show=masked_setting,
)
_EXPORT = Kind("a report", "md=report.md (json, csv, md; of a gate junit too)", "KIND=FILE", _export)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of a command that measures, with where each came from."""

    engine: EngineName = _option("engine", choice(EngineName), EngineName.SPARK, "What the topology runs on.")
    policy: PolicyName = _option("policy", choice(PolicyName), PolicyName.STEPWISE, "Who searches.")
    latency_ms: float = _option(
        "latency",
        _MILLISECONDS,
        500.0,
        "Constraint on processing latency at 90 % of the throughput; a topology may state its own.",
    )
    latency_quantile: float = _option(
        "latency-quantile", ratio(zero=False), 0.95, "Quantile of the latency that the constraint bounds."
    )
    slice: float = _option("slice", ratio(zero=False), 0.3, "Unit in which the operators' load ratios are rounded.")
    stop_factor: float = _option(
        "stop-factor", number(least=1), 2.0, "Step 3 ends within this factor of the minimal operator latencies."
    )
    alpha: float = _option(
        "alpha", ratio(zero=False), 0.9, "Below this part of the best throughput step 2 goes back and throttles."
    )
    slots: int | None = _optional(
        # Zero is let through: the topology then says how many it needs.
        "slots",
        count(least=0),
        "Tasks that may run at once.",
        unset="the engine's",
    )
    windows: int = _option("windows", count(least=2), 10, "Windows per round; 6 where they are longer by themselves.")
    window_s: float = _option(
        "window", duration(), 3.0, "Length of a window; 6s on Spark by itself where a job is several queries."
    )
    warm_up_s: float = _option(
        "warm-up",
        duration(),
        30.0,
        "How long a new Spark session is loaded before anything counts; up to 2.5 times that while its JVM compiles.",
    )
    relevant_effect: float = _option("relevant-effect", ratio(zero=True), 0.03, "Smallest effect that matters.")
    give_back: float = _option("give-back", ratio(zero=True), 0.02, "Largest loss accepted for fewer tasks.")
    confirm: bool = _option("confirm", switch(), default=True, purpose="Confirm the answer in interleaved blocks.")
    quick: bool = _option(
        "quick", switch(), default=False, purpose="In four minutes: fewer windows, no confirmation, no verification."
    )
    production_batch_s: float = _option(
        "production-batch", duration(), 30.0, "Batch duration of production, with which the answer is verified."
    )
    max_slowdown: float = _option("max-slowdown", ratio(zero=False), 0.05, "Smallest slowdown that fails a gate.")
    rule_out: float | None = _optional(
        "rule-out", ratio(zero=False), "What a pass of a gate rules out.", unset="twice the --max-slowdown"
    )
    blocks: int = _option("blocks", count(least=2), 8, "Blocks of each version or variant, at the most.")
    budget_s: float | None = _optional(
        "budget",
        duration(),
        "No round or block starts that would end after this time; a confirmation is finished.",
        unset="no limit; on Spark a search 6m (several queries 12m, --quick 3m30s), a gate 6m",
    )
    seed: int = _option("seed", count(least=0), 1, "Seed of the simulated engine's noise.")
    nodes: int = _option("nodes", count(least=1), 6, "Nodes of the simulated cluster.")
    cores: int = _option("cores", count(least=1), 2, "Cores per node of the simulated cluster.")
    noise: NoiseName = _option("noise", choice(NoiseName), NoiseName.QUIET, "Noise of the simulated cluster.")
    master: str | None = _optional(
        "master",
        text("a Spark master", "local[8] or spark://host:7077", "URL"),
        "Spark master.",
        unset="local[N] by cores and memory",
    )
    conf: tuple[str, ...] = _option(
        "conf", _SPARK_SETTING, (), "A Spark setting that goes before the engine's own; repeatable.", repeatable=True
    )
    payloads: tuple[str, ...] = _option(
        "payloads",
        text("a file", "lines.jsonl.gz, or tweets=lines.jsonl for one source", "[SOURCE=]FILE"),
        (),
        "Messages to send, JSON lines, instead of the topology's own; repeatable.",
        repeatable=True,
        unset="the topology's",
    )
    prefill: int | None = _optional(
        "prefill", count(least=1), "Keys to load into the state of every deployment first.", unset="state starts empty"
    )
    kafka: str | None = _optional("kafka", _ADDRESS, "Kafka to use.", unset="an own one is started")
    mongo: str | None = _optional("mongo", _URI, "MongoDB to store in.", unset="an own one is started")
    json_to: str | None = _optional(
        "json",
        text("a file", "result.json or -", "FILE|-"),
        "Write the result as JSON; - is stdout.",
        unset="not written",
    )
    export: tuple[Export, ...] = _option(
        "export", _EXPORT, (), "Write a report as json, csv or md; repeatable.", repeatable=True
    )
    resume: str | None = _optional(
        "resume", text("a run", "its name", "RUN"), "Go on with a stored run.", unset="a new run"
    )
    quiet: bool = _option("quiet", switch(), default=False, purpose="No progress, the result only.")
    debug: bool = _option("debug", switch(), default=False, purpose="Show the traceback of an error.")

    origins: Mapping[str, str] = field(default_factory=dict)
    """The place that every key's value came from; keys left at their defaults are absent."""

    def origin(self, key: str) -> str:
        """Tell where the value of a key came from."""
        return self.origins.get(key, "default")


OPTIONS: tuple[Option, ...] = tuple(
    Option(field=declared.name, default=declared.default, **declared.metadata)
    for declared in fields(Settings)
    if declared.metadata
)
"""All settings in the order of the help."""
GATE_ONLY = ("max-slowdown", "rule-out", "blocks")
"""Keys of the settings that mean nothing to a profile."""
