"""The stepwise method with a warm start: repeat only what has to be, from the answer of a stored profile on.

| scope | rounds |
|---|---|
| confirm | the stored answer again; where it is slower, step 1 and all that follows |
| platform | the stored answer, or what its loads ask for on the slots there are; then steps 2 and 3, features kept;
|          | none of these where there are only fewer slots and the stored answer is as good as it was |
| features | step 1 again; where no feature moved the stored answer again, else steps 2 and 3 |
| all | the method from its beginning |
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from enum import StrEnum

from profiler.errors import ProfileError
from profiler.experiment.rounds import Action, Decision, Round, Step, Trial
from profiler.job.configuration import Configuration
from profiler.questions.recalibrate.moved_features import moved_features
from profiler.questions.recalibrate.stored_answer import Look, Standing, look_at
from profiler.questions.search.policies.incumbent import Search, Tried
from profiler.questions.search.policies.policy import PolicyPlan, SearchContext
from profiler.questions.search.policies.stepwise.additions import ALL, Addition
from profiler.questions.search.policies.stepwise.costs import Costs
from profiler.questions.search.policies.stepwise.method import Stepwise, steps_two_and_three
from profiler.questions.search.policies.stepwise.slot_programme import Proposal, balanced, element_bounds, propose
from profiler.questions.search.policies.stepwise.start import start_trial
from profiler.questions.search.readings.features import Features, application_features
from profiler.questions.search.readings.loads import loads_per_source_row
from profiler.questions.search.stored_profile import StoredRounds

SECOND_LOOK = 2
"""The length of the second look, in times the first."""

Looked = Generator[Trial | Decision, Round | None, Look]


class Scope(StrEnum):
    """The steps that are repeated."""

    CONFIRM = "confirm"
    PLATFORM = "platform"
    FEATURES = "features"
    ALL = "all"


class WarmStart:
    """Confirm or repair the answer of a stored profile."""

    name = "stepwise"

    def __init__(
        self,
        stored: StoredRounds,
        scope: Scope,
        additions: frozenset[Addition] = ALL,
        *,
        only_fewer_slots: bool = False,
    ) -> None:
        """Take what is stored; `only_fewer_slots` where that is all that changed of the platform."""
        self.stored = stored
        self.scope = scope
        self.additions = additions
        self.only_fewer_slots = only_fewer_slots

    def plan(self, context: SearchContext) -> PolicyPlan:
        """Yield the trials that the scope asks for and a decision on each."""
        if self.scope is Scope.ALL:
            yield from Stepwise(self.additions).plan(context)
            return
        search = Search(context)
        if self.scope is Scope.PLATFORM:
            features = self._kept_features(context)
            is_settled = yield from self._resized(search, features)
            if is_settled:
                return
        elif self.scope is Scope.FEATURES:
            start = yield from self._step_one(search)
            features = application_features(context.topology, start.measurement)
            if not self._moved(search, start):
                look = yield from self._again(search)
                if look.standing is not Standing.SLOWER:
                    return
        else:
            look = yield from self._again(search)
            if look.standing is not Standing.SLOWER:
                return
            start = yield from self._step_one(search)
            features = application_features(context.topology, start.measurement)
        yield from steps_two_and_three(search, features, self.additions)

    def _kept_features(self, context: SearchContext) -> Features:
        if self.stored.start is None:
            raise ProfileError("The stored profile has no features to keep.", hint="Start a new one: profile run.")
        return application_features(context.topology, self.stored.start.measurement)

    def _moved(self, search: Search, start: Round) -> bool:
        """Tell whether any feature moved; without stored ones, nobody knows that none did."""
        before = self.stored.start
        return before is None or bool(
            moved_features(search.topology, before.measurement, start.measurement, search.parameters)
        )

    def _step_one(self, search: Search) -> Tried:
        """Measure one task each for its features; it is the incumbent only where there is none yet."""
        is_first = not search.rounds
        start = yield from search.attempt(start_trial(search))
        why = "the start: one task each" if is_first else "one task each, for the features"
        yield from search.decide(start, why, accepted=is_first)
        return start

    def _again(self, search: Search) -> Looked:
        """Measure the stored answer once, and once more where that leaves doubt."""
        stored = self.stored.answer
        trial = Trial(
            stored.configuration,
            Step.STORED,
            Action.STORED,
            predicted_per_s=stored.throughput_per_s,
            fused=stored.trial.fused,
        )
        start = search.rounds[-1] if search.rounds else None
        if start is not None and start.configuration == trial.configuration and not trial.fused:
            first = start  # one task each is what the stored profile found: step 1 has measured and decided it
        else:
            first = yield from search.attempt(trial)
        look = look_at(self.stored, first, search.rounds, search.parameters)
        if first is not start:
            accepted = start is None or not look.in_doubt or search.beats_incumbent(first)[0]
            once_more = "; measured once more" if look.in_doubt else ""
            yield from search.decide(first, f"{look.why}{once_more}", accepted=accepted)
        if not look.in_doubt:
            return look
        second = yield from search.attempt(replace(trial, effort=SECOND_LOOK))
        look = look_at(self.stored, second, search.rounds, search.parameters)
        as_good = look.standing is Standing.AS_GOOD
        yield from search.decide(second, look.why, accepted=as_good)
        return look

    def _resized(self, search: Search, features: Features) -> Generator[Trial | Decision, Round | None, bool]:
        """Measure the stored answer on the new platform; where it does not fit, what its loads ask for.

        Return whether that is the answer: it was the best with more slots, and is as good with fewer.
        """
        stored = self.stored.answer
        configuration = search.bounded(stored.configuration.throttled(None), stored.configuration.tasks)
        predicted_per_s, action, why = stored.throughput_per_s, Action.STORED, "the stored answer, to go on from"
        fused = stored.trial.fused
        if not search.fits(configuration):
            configuration, predicted_per_s = self._fitted(search, features)
            slots = search.context.slots
            action, why, fused = Action.SLOTS, f"what the stored loads ask for on {slots} slots", False
        trial = Trial(configuration, Step.PLATFORM, action, predicted_per_s=predicted_per_s, fused=fused)
        measured = yield from search.attempt(trial)
        settled = False
        if self.only_fewer_slots and configuration == stored.configuration:
            look = look_at(self.stored, measured, search.rounds, search.parameters)
            settled = not look.in_doubt
            why = f"the best with more slots, and {look.why}" if settled else f"{why}; {look.why}"
        yield from search.decide(measured, why, accepted=True)
        return settled

    def _fitted(self, search: Search, features: Features) -> tuple[Configuration, float]:
        """Solve the slot programme with the kept features; where slots are the limit, with loads seen under load.

        Where the cores are, busy seconds under load count the wait for them, and the features do not.
        """
        stored, slots = self.stored.answer, search.context.slots
        scalable = [name for name in search.topology.names if name not in features.dominated]
        bounds = element_bounds(search, scalable)
        # Operators that do not grow with the load need what they had.
        fixed = {name: search.clamp(name, stored.configuration[name]) for name in features.dominated}

        def solved(costs: Costs) -> Proposal:
            wanted = {name: costs.busy_s[name] for name in scalable}
            by_cpu_per_s = costs.whole.most_per_s(search.context.cores)
            return propose(wanted, by_cpu_per_s, bounds=bounds, fixed=fixed, slots=slots)

        costs = Costs.of(features)
        proposal = solved(costs)
        if not proposal.cpu_bound:
            seen, whole = loads_per_source_row(stored), costs.whole.under(stored.measurement)
            proposal = solved(replace(costs, busy_s=seen, whole=whole))
        if Addition.BALANCE in self.additions:
            proposal = balanced(
                proposal, costs, bounds, slots=slots, cores=search.context.cores, nodes=search.context.nodes
            )
        configuration = search.bounded(search.context.smallest(), proposal.tasks)
        # What is fixed may take more than there is.
        fits = search.fits(configuration)
        return configuration if fits else search.context.smallest(), proposal.predicted_per_s
