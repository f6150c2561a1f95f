"""The best configuration of a variant: of a stored profile that still fits, of one gone on with, or searched now."""

from __future__ import annotations

from dataclasses import dataclass, replace

from profiler.experiment.engine import Engine
from profiler.experiment.rounds import Round
from profiler.history.fingerprint.fingerprint import Fingerprint, differences
from profiler.history.records import Run, RunState
from profiler.history.session.interrupted import interrupted
from profiler.history.session.keeping import kept
from profiler.history.session.opening import HistorySession
from profiler.history.session.resuming import resumed
from profiler.questions.compare.answer import Profiled
from profiler.questions.compare.experiment import Variant
from profiler.questions.compare.progress import CompareProgress
from profiler.questions.compare.variants import Job
from profiler.questions.fingerprints import code_of, fingerprint_on
from profiler.questions.search.policies import POLICIES
from profiler.questions.search.session import SearchSession, profile_run
from profiler.questions.search.stored_profile import StoredProfile
from profiler.questions.search.stored_profiles import readable, with_answers
from profiler.questions.search.terms import SearchTerms, policy_parameters
from profiler.report.words import counted
from profiler.settings.choices import PolicyName
from profiler.settings.declarations import COSTS, Settings


@dataclass(slots=True)
class Profiles:
    """Finds configurations, one variant after the other, on one engine."""

    engine: Engine
    settings: Settings
    history: HistorySession | None
    stages: CompareProgress
    anew: bool
    """Whether every variant is profiled anew, whatever is stored."""
    complete: bool = True
    """Whether the database took all of every profile."""

    def best(self, job: Job, slots: int | None, budget_s: float | None, *, stage: str) -> tuple[Variant, Profiled]:
        """Return a variant at its best within so many slots, and where that comes from."""
        settings = replace(self.settings, slots=slots, budget_s=budget_s, resume=None)
        now = fingerprint_on(self.engine, job.topology, job.reference, settings)
        found = None if self.anew else self._stored(job, settings, now)
        if found is None:
            return self._searched(job, settings, now, stage)
        stored, complete = found
        answer = stored.rounds.answer
        short = "" if complete else "; its time was up before all was searched, --anew searches again"
        self.stages.say(f"{job.name}: stored profile {stored.run} still fits, {_in_words(answer)}{short}")
        origin = Profiled(
            run=stored.run,
            rounds=stored.full_rounds,
            throughput_per_s=answer.throughput_per_s,
            reused=True,
            complete=complete,
            kept_per_s=_kept_per_s(answer, settings),
        )
        return _variant(job, answer, is_warm=False), origin

    def _stored(self, job: Job, settings: Settings, now: Fingerprint) -> tuple[StoredProfile, bool] | None:
        """Return the newest stored profile that fits, and whether it is complete; say why the newest of all does not.

        Those that came to their end go before those whose time was up.
        """
        if self.history is None:
            return None
        wanted = profile_run(job.topology, settings, self.engine)
        store = self.history.store()
        found = with_answers(store, topology=wanted.topology, engine=wanted.engine)
        for each in sorted(found, key=lambda each: each.state is RunState.CUT_SHORT):
            profile = readable(store, each.run.id)
            misfits = [*_asked_differently(each.run, wanted), *still_fits(profile, now)]
            if profile is not None and not misfits:
                return profile, each.state is RunState.FINISHED
            if each is found[0]:
                self.stages.say(f"{job.name}: stored profile {each.run.id} does not fit: {'; '.join(misfits)}")
        return None

    def _searched(self, job: Job, settings: Settings, now: Fingerprint, stage: str) -> tuple[Variant, Profiled]:
        terms = SearchTerms.of(settings)
        self.stages.begin(f"{stage}: profile {job.name} on {self.engine.name}", terms.time_left(settings))
        run = profile_run(job.topology, settings, self.engine, code_of(now))
        # One whose time was up has an answer, which is not to be overwritten.
        past = None if self.anew else interrupted(run, self.history, resumed)
        if past is not None:
            self.stages.note(f"going on with run {past.run.id}")
            run = past.run
        resume = None if past is None else resumed
        with kept(run, self.history, self.stages, resume=resume, way_on=None) as keeping:
            session = SearchSession.begun(self.engine, job.topology, terms, now, keeping)
            found = session.searched(POLICIES[settings.policy]())
            session.kept(found)
        self.complete = self.complete and keeping.complete
        self.stages.say(f"{job.name}: {_in_words(found.answer)} after {counted(len(found.rounds), 'round')}")
        origin = Profiled(
            run="" if self.history is None else keeping.run.id,
            rounds=len(found.rounds),
            throughput_per_s=found.answer.throughput_per_s,
            reused=False,
            complete=found.complete,
            kept_per_s=_kept_per_s(found.answer, settings),
        )
        return _variant(job, found.answer, is_warm=found.is_warm), origin


def _kept_per_s(answer: Round, settings: Settings) -> float | None:
    return answer.kept_per_s(policy_parameters(settings).constraint) or None


def still_fits(stored: StoredProfile | None, now: Fingerprint) -> list[str]:
    """Say what is not as it was when a profile was stored; nothing where it still fits."""
    if stored is None or stored.fingerprint is None:
        return ["it does not say what it holds for"]
    return [each.what for each in differences(stored.fingerprint, now, most_slots=stored.most_slots)]


def _asked_differently(run: Run, wanted: Run) -> list[str]:
    """Say where a profile was searched less thoroughly, by another policy that a user can choose, or set otherwise."""
    misfits = []
    before, now = run.parameters, wanted.parameters
    if before.get("windows", 0) < now["windows"]:
        misfits.append(f"windows per round: were {before.get('windows')}, are {now['windows']}")
    if run.policy in {*PolicyName} - {PolicyName(wanted.policy)}:
        misfits.append(f"policy: was {run.policy}, is {wanted.policy}")
    misfits += [
        f"{option.key}: was {before.get(option.key, 'none')}, is {now.get(option.key, 'none')}"
        for option in COSTS
        if before.get(option.key) != now.get(option.key)
    ]
    return misfits


def _variant(job: Job, answer: Round, *, is_warm: bool) -> Variant:
    return Variant(
        job.name,
        job.topology,
        answer.configuration,
        answer.throughput_per_s,
        fused=answer.trial.fused,
        is_warm=is_warm,
    )


def _in_words(answer: Round) -> str:
    return f"{answer.throughput_per_s:,.0f} rows/s with {answer.configuration.slots} slots {answer.configuration}"
