"""One session of search on an engine that is open: what the history calls it, the search itself, the profile it keeps.

`profile run` makes one, `profile compare` one for every variant without a stored profile that fits, and
`profile recalibrate` one that starts from what is known already; `loop_on` alone is a search that nobody keeps.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Self

from profiler import __version__
from profiler.experiment.engine import Engine
from profiler.experiment.events import Listener
from profiler.experiment.rounds import Round
from profiler.history.fingerprint.fingerprint import Fingerprint
from profiler.history.records import Run
from profiler.history.session.keeping import Keeping, new_run_id
from profiler.job.topology import Topology
from profiler.questions.search.answer import Profile, ProfileOrigin
from profiler.questions.search.conclusion import profile_of
from profiler.questions.search.document import profile_document
from profiler.questions.search.loop import Loop
from profiler.questions.search.policies.policy import Policy
from profiler.questions.search.result import SearchResult
from profiler.questions.search.terms import SearchTerms, policy_parameters, search_design
from profiler.settings.declarations import COSTS, Settings


@dataclass(frozen=True, slots=True)
class SearchSession:
    """A search that is kept: on which engine, of which job, on what terms, and where its rounds go."""

    engine: Engine
    topology: Topology
    terms: SearchTerms
    fingerprint: Fingerprint
    """The fingerprint of the job as it was before anything was measured: the code of a long profile may change under
    it."""
    history: Keeping[Round]

    @classmethod
    def begun(
        cls,
        engine: Engine,
        topology: Topology,
        terms: SearchTerms,
        fingerprint: Fingerprint,
        history: Keeping[Round],
    ) -> Self:
        """Begin; the speed indices of a run that is gone on with have one measure in all its sessions."""
        if history.run.loop_s is not None:
            engine.measure_speed_by(history.run.loop_s)
        return cls(engine, topology, terms, replace(fingerprint, loop_s=engine.platform.loop_s), history)

    def searched(self, policy: Policy, *, production_batch_s: float | None = None) -> SearchResult:
        """Search from the rounds on that the history has."""
        loop = loop_on(
            self.engine, self.topology, policy, self.terms, self.history.report, production_batch_s=production_batch_s
        )
        return loop.run(self.history.past)

    def kept(
        self, found: SearchResult, *, fingerprint: Fingerprint | None = None, recalibration: ProfileOrigin | None = None
    ) -> Profile:
        """Put together the profile that is told, and keep it."""
        profile = profile_of(
            found,
            run=self.history.run.id,
            engine=self.engine.name,
            environment=environment_of(self.engine),
            headroom=self.terms.headroom,
            fingerprint=fingerprint or self.fingerprint,
        )
        profile = replace(profile, recalibration=recalibration)
        self.history.keep_result(profile_document(profile))
        return profile


def loop_on(
    engine: Engine,
    topology: Topology,
    policy: Policy,
    terms: SearchTerms,
    report: Listener,
    *,
    production_batch_s: float | None = None,
) -> Loop:
    """Return the search itself, with nothing measured yet."""
    return Loop(
        engine,
        topology,
        policy,
        parameters=terms.parameters,
        design=terms.design,
        report=report,
        slots=terms.slots,
        budget_s=terms.budget_s,
        limits=terms.limits,
        production_batch_s=production_batch_s,
    )


def profile_run(
    topology: Topology,
    settings: Settings,
    engine: Engine,
    code: str = "",
    *,
    policy: str | None = None,
    also: Mapping[str, Any] | None = None,
) -> Run:
    """Return the record of a profile that is about to be measured, with all that was asked.

    `policy` searches where it is not the user's, and `also` is asked besides what the settings say: by both, a
    recalibration is told from a profile, and found again.
    """
    started = datetime.now(UTC)
    parameters = {**asdict(policy_parameters(settings)), "windows": search_design(settings).windows}
    return Run(
        id=settings.resume or new_run_id(started),
        topology=topology.name,
        engine=engine.name,
        policy=policy or settings.policy,
        parameters={**parameters, **_conditions(settings), "window_s": engine.window_s, **(also or {})},
        environment=environment_of(engine),
        started=started,
        code=code,
        loop_s=engine.platform.loop_s,
    )


def environment_of(engine: Engine) -> dict[str, Any]:
    """Return the facts of the platform that a result holds for."""
    return {
        "profile": __version__,
        "python": platform.python_version(),
        "cores": engine.platform.cores,
        "nodes": engine.platform.nodes,
        "slots": engine.platform.slots,
        "machine_cores": os.cpu_count(),
        **engine.platform.versions,
    }


def _conditions(settings: Settings) -> dict[str, Any]:
    """Return what else rounds must have in common to belong to one run, where the user asked for it."""
    asked = {option: getattr(settings, option.field) for option in COSTS}
    return {
        option.key: [option.kind.show(each) for each in value] if option.repeatable else value
        for option, value in asked.items()
        if value
    }
