"""Build what `profile run` needs from the settings, run it, report it."""

from __future__ import annotations

import json
import os
import platform
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from profiler import __version__
from profiler.cli.console import error_console, result_console
from profiler.engines import Engine
from profiler.engines.simulated.engine import SimulatedEngine
from profiler.engines.simulated.noise import Preset
from profiler.engines.simulated.platform import SimulatedPlatform
from profiler.errors import UsageError
from profiler.loop import Loop, Profile
from profiler.measure import Design
from profiler.policies import POLICIES
from profiler.policies.policy import Parameters
from profiler.report.json_document import profile_document
from profiler.report.progress import progress
from profiler.report.terminal import print_profile
from profiler.settings import EngineName, Settings
from profiler.topology import Topology

QUICK_WINDOWS = 5


def run_profile(topology: Topology, settings: Settings) -> int:
    """Profile a topology and print the answer; return the exit code."""
    output = _opened(settings.json_to)
    design = search_design(settings)
    engine = _engine(settings)
    run = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:4]}"
    title = f"profile {topology.name} on {engine.name}"
    errors = error_console()
    try:
        with progress(errors, title, design, engine.window_s, quiet=settings.quiet) as watcher:
            profile = Loop(
                engine,
                topology,
                POLICIES[settings.policy](),
                parameters=policy_parameters(settings),
                design=design,
                report=watcher,
                slots=settings.slots,
                budget_s=settings.budget_s,
            ).run()
    finally:
        engine.close()
    _report(profile, run, engine, output)
    return 0


def search_design(settings: Settings) -> Design:
    """Return how long to look: `--quick` looks shorter and leaves the answer unconfirmed."""
    defaults = Design()
    if settings.quick:
        return Design(windows=min(QUICK_WINDOWS, settings.windows), probe=2, calm=3, blocks=0)
    return Design(windows=settings.windows, blocks=defaults.blocks if settings.confirm else 0)


def policy_parameters(settings: Settings) -> Parameters:
    """Return the method's knobs as the user set them."""
    return Parameters(
        latency_ms=settings.latency_ms,
        latency_quantile=settings.latency_quantile,
        slice=settings.slice,
        stop_factor=settings.stop_factor,
        alpha=settings.alpha,
        relevant_effect=settings.relevant_effect,
        give_back=settings.give_back,
    )


def _engine(settings: Settings) -> Engine:
    if settings.engine is not EngineName.SIMULATED:
        raise UsageError("The Spark engine is not built yet.", hint="Run with --engine simulated.")
    cluster = SimulatedPlatform(nodes=settings.nodes, cores_per_node=settings.cores, slots=settings.slots)
    return SimulatedEngine(cluster, Preset(settings.noise), seed=settings.seed, window_s=settings.window_s)


def _opened(target: str | None) -> Path | None:
    """Make sure before measuring that the document can be written after it."""
    if target is None or target == "-":
        return None if target is None else Path("-")
    path = Path(target)
    try:
        path.touch()
    except OSError as error:
        raise UsageError(f"--json {target} can't be written: {error.strerror}.", hint="Name another file.") from None
    return path


def _report(profile: Profile, run: str, engine: Engine, output: Path | None) -> None:
    document = profile_document(profile, run=run, engine=engine.name, environment=_environment(engine))
    text = json.dumps(document, indent=1, allow_nan=False)
    if output is not None and output.name == "-":
        sys.stdout.write(text + "\n")
        return
    if output is not None:
        output.write_text(text + "\n", encoding="utf-8")
    print_profile(result_console(), profile, run=run, engine=engine.name)


def _environment(engine: Engine) -> dict[str, Any]:
    return {
        "profile": __version__,
        "python": platform.python_version(),
        "cores": engine.platform.cores,
        "nodes": engine.platform.nodes,
        "slots": engine.platform.slots,
        "machine_cores": os.cpu_count(),
        **engine.platform.versions,
    }
