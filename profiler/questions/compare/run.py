"""Build what `profile compare` needs from the request, run it, keep and report what came of it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from profiler.engines.opening import prepared_engine, time_left_of
from profiler.errors import ProfileError
from profiler.experiment.clock import Deadline
from profiler.history.baselines import block_at
from profiler.history.fingerprint.environment import fingerprint
from profiler.history.session.resuming import in_another_session
from profiler.job.slots import smallest_configuration
from profiler.questions.compare.answer import Profiled
from profiler.questions.compare.best_of_each import Profiles
from profiler.questions.compare.conclusion import CompareCase, compare_answer
from profiler.questions.compare.document import compare_document
from profiler.questions.compare.experiment import DESIGN, HeadToHead, PastBlock, Variant
from profiler.questions.compare.exports import COMPARE_WRITERS
from profiler.questions.compare.progress import CompareProgress
from profiler.questions.compare.ranking import Terms
from profiler.questions.compare.request import CompareRequest
from profiler.questions.compare.resume import comparison_run, kept_comparison, told_how_to_go_on
from profiler.questions.compare.terminal import print_comparison
from profiler.questions.fitting import fitted_to
from profiler.questions.needed_history import needed_history
from profiler.questions.windows import fewer_of
from profiler.report.console import result_console
from profiler.report.outputs import Outputs
from profiler.settings.declarations import Settings


def run_comparison(request: CompareRequest, settings: Settings) -> int:
    """Profile the variants as far as needed, compare them, print the ranking; return the exit code."""
    settings = fitted_to([job.topology for job in request.jobs], settings)
    deadline = Deadline.within(settings.budget_s)
    outputs = Outputs.opened(settings, COMPARE_WRITERS)
    first, *others = (job.topology for job in request.jobs)
    with (
        CompareProgress(f"compare on {settings.engine}", quiet=settings.quiet) as stages,
        prepared_engine(first, settings, stages.note, others) as opening,
        # The database first: it starts at once, and one that does not answer must not cost a wait for Spark.
        needed_history(settings, stages.note) as history,
        # The history is closed after the engine, as in a profile.
        ExitStack() as stack,
        told_how_to_go_on(stages, history),
        opening as engine,
    ):
        profiles = Profiles(engine, settings, history, stages, anew=request.anew)
        found, slots = best_of_each(request, settings.slots, profiles, deadline)
        variants = [variant for variant, _ in found]
        case = CompareCase(
            engine=engine.name,
            profiled=tuple(profiled for _, profiled in found),
            terms=Terms(relevant_effect=settings.relevant_effect),
            slots=slots,
            environment=fingerprint(engine),
        )
        design = fewer_of(replace(DESIGN, blocks=settings.blocks), settings.window_s)
        run = comparison_run(variants, case, design, engine, settings)
        loads = sum(not variant.is_warm for variant in variants)
        time_left = time_left_of(settings, design, whole_s=deadline.part_s(1), rounds=loads, arms=len(variants))
        stages.begin(f"compare {run.topology} on {engine.name}", time_left)
        keeping = stack.enter_context(kept_comparison(run, history, stages, anew=request.anew))
        loop_s = engine.platform.loop_s
        outcome = HeadToHead(
            engine,
            variants,
            terms=case.terms,
            design=design,
            report=keeping.report,
            ends_s=deadline.ends_s,
            past=[PastBlock(block_at(loop_s, past.block, past.loop_s), past.expected_per_s) for past in keeping.past],
        ).run()
        case = replace(case, warnings=in_another_session(keeping.past))
        answer = compare_answer(case, outcome, run=keeping.run.id)
        keeping.keep_result(compare_document(answer))
    if not (keeping.complete and profiles.complete):
        answer = replace(answer, exit_code=ProfileError.exit_code)
    outputs.deliver(answer, lambda: print_comparison(result_console(), answer))
    return answer.exit_code


def best_of_each(
    request: CompareRequest, slots: int | None, profiles: Profiles, deadline: Deadline
) -> tuple[list[tuple[Variant, Profiled]], int | None]:
    """Return every variant at its best and the slots that bound all of them, None where nothing did.

    Each profile that is still to be made may use an equal part of the time that is left.
    """
    count = len(request.jobs)
    found = []
    for number, job in enumerate(request.jobs, start=1):
        # One part more, for measuring them head to head.
        budget_s = deadline.part_s(count - number + 2)
        found.append(profiles.best(job, slots, budget_s, stage=f"variant {number} of {count}"))
    if not request.equal_slots:
        return found, slots
    needed = max(smallest_configuration(job.topology, None).slots for job in request.jobs)
    equal = max(needed, min(variant.configuration.slots for variant, _ in found))
    for index, job in enumerate(request.jobs):
        if found[index][0].configuration.slots > equal:
            stage = f"variant {index + 1} of {count}, with {equal} slots"
            found[index] = profiles.best(job, equal, deadline.part_s(count - index + 1), stage=stage)
    return found, equal
