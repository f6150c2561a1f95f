"""Every setting, declared once: its key, how it is written, its default and what it is for.

A field of `Settings` is a key of the configuration file (`latency`), an environment variable (`PROFILE_LATENCY`)
and a flag (`--latency`). `profiler.settings.sources` fills it; the command line makes its flags from `OPTIONS`.
Nothing here imports an engine or a policy: `profile --help` must answer at once.
"""

# ruff: noqa: RUF009 - the defaults are declarations; no value is shared between instances that could change

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from profiler.experiment.quantiles import QUANTILES
from profiler.secrets import masked_setting
from profiler.services.broker_address import BROKERS
from profiler.settings.choices import EngineName, Export, NoiseName, PolicyName
from profiler.settings.choices import export as read_export
from profiler.settings.option import ALL, MEASURING, SEARCHING, Ability, Asked, Command, Option, declared, optional
from profiler.settings.quantities import Kind, choice, count, duration, number, one_part, ratio, switch, text
from profiler.statistics.result import RELEVANT_EFFECT

_MILLISECONDS = duration(unit_s=0.001)
_ADDRESS = text("an address", "localhost:9092", "HOST:PORT", BROKERS)
_URI = text("a MongoDB URI", "mongodb://localhost:27017", "URI", r"mongodb(?:\+srv)?://\S+")
_SPARK_SETTING = replace(
    text("a Spark setting", "spark.sql.execution.arrow.maxRecordsPerBatch=50", "KEY=VALUE", r"spark\.[\w.\-]+=.*"),
    show=masked_setting,
)
_EXPORT = Kind("a report", "md=report.md (json, csv, md; of a gate junit too)", "KIND=FILE", read_export)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of a command that measures, with where each came from."""

    engine: EngineName = declared("engine", choice(EngineName), EngineName.SPARK, "What the topology runs on.")
    policy: PolicyName = declared(
        "policy",
        choice(PolicyName),
        PolicyName.STEPWISE,
        "Who searches.",
        # A recalibration goes by the stepwise method.
        commands=SEARCHING - {Command.RECALIBRATE},
    )
    latency_ms: float = declared(
        "latency",
        _MILLISECONDS,
        500.0,
        "Constraint on processing latency at 90 % of the throughput; a topology may state its own.",
        commands=SEARCHING,
        asked=Asked.QUESTION,
    )
    latency_quantile: float = declared(
        "latency-quantile",
        one_part(QUANTILES),
        0.95,
        "Quantile of the latency that the constraint bounds.",
        commands=SEARCHING,
        asked=Asked.QUESTION,
    )
    slice: float = declared(
        "slice",
        ratio(zero=False),
        0.3,
        "Unit in which the operators' load ratios are rounded.",
        commands=SEARCHING,
        asked=Asked.QUESTION,
    )
    stop_factor: float = declared(
        "stop-factor",
        number(least=1),
        2.0,
        "Step 3 ends within this factor of the minimal operator latencies.",
        commands=SEARCHING,
        asked=Asked.QUESTION,
    )
    alpha: float = declared(
        "alpha",
        ratio(zero=False),
        0.9,
        "Below this part of the best throughput step 2 goes back and throttles.",
        commands=SEARCHING,
        asked=Asked.QUESTION,
    )
    slots: int | None = optional(
        # Zero is let through: the topology then says how many it needs.
        "slots",
        count(least=0),
        "Tasks that may run at once.",
        unset="the engine's",
        commands=MEASURING | {Command.CHECK},
        asked=Asked.CONDITION,
    )
    windows: int = declared(
        "windows",
        count(least=2, most=200),
        10,
        "Windows per round; 6 where they are longer by themselves.",
        commands=SEARCHING,
        asked=Asked.CONDITION,
    )
    window_s: float = declared(
        "window",
        duration(),
        3.0,
        "Length of a window; 6s on Spark by itself where a job is several queries.",
        asked=Asked.CONDITION,
    )
    warm_up_s: float = declared(
        "warm-up",
        duration(),
        30.0,
        "How long a new Spark session is loaded before anything counts; up to 2.5 times that while its JVM compiles.",
        needs=Ability.REAL_TIME,
    )
    relevant_effect: float = declared(
        "relevant-effect",
        ratio(zero=True),
        RELEVANT_EFFECT,
        "Smallest effect that matters.",
        commands=SEARCHING,
        asked=Asked.QUESTION,
    )
    give_back: float = declared(
        "give-back",
        ratio(zero=True),
        0.02,
        "Largest loss accepted for fewer tasks.",
        commands=SEARCHING,
        asked=Asked.QUESTION,
    )
    confirm: bool = declared(
        "confirm", switch(), default=True, purpose="Confirm the answer in interleaved blocks.", commands=SEARCHING
    )
    quick: bool = declared(
        "quick",
        switch(),
        default=False,
        purpose="In four minutes: fewer windows, no confirmation, no verification.",
        commands=SEARCHING,
    )
    production_batch_s: float = declared(
        "production-batch",
        duration(),
        300.0,
        "Batch duration of production, in which the rate has to hold; half a minute at the most is run.",
        commands=SEARCHING,
        asked=Asked.CONDITION,
    )
    headroom: float = declared(
        "headroom",
        ratio(zero=True),
        0.3,
        "Part of the rate that holds which is left for peaks and restarts.",
        commands=SEARCHING,
    )
    max_slowdown: float = declared(
        "max-slowdown", ratio(zero=False), 0.05, "Smallest slowdown that fails a gate.", commands={Command.GATE}
    )
    rule_out: float | None = optional(
        "rule-out",
        ratio(zero=False),
        "What a pass of a gate rules out.",
        unset="twice the --max-slowdown",
        commands={Command.GATE},
    )
    blocks: int = declared(
        "blocks",
        count(least=2, most=100),
        8,
        "Blocks of each version or variant, at the most.",
        commands={Command.GATE, Command.COMPARE},
    )
    budget_s: float | None = optional(
        "budget",
        duration(),
        "No round or block starts that would end after this time; a confirmation is finished.",
        unset="no limit; on Spark a search 3m40s (several queries twice that, --quick 3m30s), a gate 6m",
    )
    seed: int = declared(
        "seed",
        count(least=0),
        1,
        "Seed of the simulated engine's noise.",
        needs=Ability.MODEL,
        asked=Asked.CONDITION,
    )
    nodes: int = declared(
        "nodes",
        count(least=1, most=1_000),
        6,
        "Nodes of the simulated cluster.",
        needs=Ability.MODEL,
        asked=Asked.CONDITION,
    )
    cores: int = declared(
        "cores",
        count(least=1, most=1_000),
        2,
        "Cores per node of the simulated cluster.",
        needs=Ability.MODEL,
        asked=Asked.CONDITION,
    )
    noise: NoiseName = declared(
        "noise",
        choice(NoiseName),
        NoiseName.QUIET,
        "Noise of the simulated cluster.",
        needs=Ability.MODEL,
        asked=Asked.CONDITION,
    )
    master: str | None = optional(
        "master",
        text("a Spark master", "local[8] or spark://host:7077", "URL"),
        "Spark master.",
        unset="local[N] by cores and memory",
        commands=MEASURING | {Command.CHECK},
        needs=Ability.SPARK,
        asked=Asked.CONDITION,
    )
    conf: tuple[str, ...] = declared(
        "conf",
        _SPARK_SETTING,
        (),
        "A Spark setting that goes before the engine's own; repeatable.",
        repeatable=True,
        needs=Ability.SPARK,
        asked=Asked.MACHINE,
    )
    payloads: tuple[str, ...] = declared(
        "payloads",
        text("a file", "lines.jsonl.gz, or tweets=lines.jsonl for one source", "[SOURCE=]FILE"),
        (),
        "Messages to send, JSON lines, instead of the topology's own; repeatable.",
        repeatable=True,
        unset="the topology's",
        commands=MEASURING | {Command.CHECK},
        needs=Ability.MESSAGES,
        asked=Asked.CONDITION,
    )
    prefill: int | None = optional(
        "prefill",
        count(least=1),
        "Keys to load into the state of every deployment first.",
        unset="state starts empty",
        needs=Ability.STATE,
        asked=Asked.DATA,
    )
    kafka: str | None = optional(
        "kafka",
        _ADDRESS,
        "Kafka to use.",
        unset="an own one is started",
        commands=MEASURING | {Command.DOCTOR, Command.CAPTURE, Command.GENERATE},
        needs=Ability.MESSAGES,
    )
    mongo: str | None = optional(
        "mongo",
        _URI,
        "MongoDB to store in.",
        unset="an own one is started",
        commands=MEASURING | {Command.DOCTOR, Command.HISTORY},
    )
    json_to: str | None = optional(
        "json",
        text("a file", "result.json or -", "FILE|-"),
        "Write the result as JSON; - is stdout.",
        unset="not written",
    )
    export: tuple[Export, ...] = declared(
        "export", _EXPORT, (), "Write a report as json, csv or md; repeatable.", repeatable=True
    )
    resume: str | None = optional(
        "resume",
        text("a run", "its name", "RUN"),
        "Go on with a stored run.",
        unset="a new run",
        # The other two go on by themselves with what was interrupted.
        commands={Command.RUN, Command.GATE},
    )
    quiet: bool = declared(
        "quiet",
        switch(),
        default=False,
        purpose="No progress, the result only.",
        commands=MEASURING | {Command.GENERATE},
    )
    debug: bool = declared("debug", switch(), default=False, purpose="Show the traceback of an error.", commands=ALL)

    origins: Mapping[str, str] = field(default_factory=dict)
    """The place that every key's value came from; keys left at their defaults are absent."""

    def origin(self, key: str) -> str:
        """Tell where the value of a key came from."""
        return self.origins.get(key, "default")


DEFAULTS = Settings()
"""Every setting as it is where nobody says anything."""

OPTIONS: tuple[Option, ...] = tuple(
    Option(field=setting.name, default=setting.default, **setting.metadata)
    for setting in fields(Settings)
    if setting.metadata
)
"""All settings in the order of the help."""
COSTS: tuple[Option, ...] = tuple(option for option in OPTIONS if option.asked in (Asked.MACHINE, Asked.DATA))
"""Settings that make rows cost another amount: rounds with others are of another run."""
