"""Cut a topology into chains, one real-time query each, and lay every chain out in stages; pure, without Spark.

Within one query a producer has one consumer, so a DAG is cut. An edge stays inside a query where its producer has
one consumer and its consumer reads nothing else (or only sources, whose union Spark can read at once). Every other edge
is a Kafka topic: the *inbox* of the chain that reads it, with all producers of a fan-in writing to the same inbox.

All stages of a query run at the same time, so every task needs a slot. The cut costs no slot of its own:

- a source is read by as many tasks as its topic has partitions; one that feeds several operators, or a fan-in together
  with operators, is a chain of its own that passes its rows on to inboxes;
- the first operator of a chain that reads an inbox runs in the reading tasks: the inbox has that many partitions;
- every further stateless operator gets its tasks by `repartition(n)`, a stateful one by `spark.sql.shuffle.partitions`,
  which all stateful operators of a query share: a second one starts a new chain, before its stateless predecessor
  where there is one.

Two exceptions, both accounted for here. A stateful operator that reads an inbox directly needs one task more to read
it, because its own tasks are fed by a shuffle on the key. And with one task each, a stateless operator that was
repartitioned and the stateful one after it share one stage: data in a single partition needs no shuffle. `apart` keeps
them apart, so that their CPU time can be told apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from profiler.errors import ProfileError, TopologyError
from profiler.job.configuration import Configuration
from profiler.job.topology import Operator, Source, Topology


@dataclass(frozen=True, slots=True)
class Chain:
    """A part of the topology that runs as one query: sources or an inbox, then operators one after the other."""

    sources: tuple[str, ...]
    """Sources it reads, as their union; none where it reads its inbox."""
    operators: tuple[str, ...]
    """Operators in order; none where a source only passes its rows on."""
    consumers: tuple[str, ...]
    """Chains it feeds, by name; none where its rows leave the topology."""

    @property
    def name(self) -> str:
        """Name of the chain, and of its inbox if it has one: its first operator's, or its source's."""
        return (*self.operators, *self.sources)[0]

    @property
    def elements(self) -> tuple[str, ...]:
        """Sources, then operators."""
        return (*self.sources, *self.operators)

    @property
    def last(self) -> str:
        """The element whose rows the chain emits."""
        return self.elements[-1]


@dataclass(frozen=True, slots=True)
class Stage:
    """Tasks of a query that run the same code: usually one operator."""

    elements: tuple[str, ...]
    """Elements that run in it; none for a stage that only reads an inbox."""
    tasks: int


@dataclass(frozen=True, slots=True)
class QueryLayout:
    """The layout of one chain."""

    chain: Chain
    stages: tuple[Stage, ...]
    """The stages in the order of the rows; Spark numbers them the same way within a batch."""
    shuffle_partitions: int
    """Tasks of its stateful operator; 1 where it has none."""
    inbox_partitions: int
    """Partitions of the inbox it reads; 0 where it reads sources."""

    @property
    def slots(self) -> int:
        """Slots the query needs as long as it runs."""
        return sum(stage.tasks for stage in self.stages)


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a configuration of a topology."""

    queries: tuple[QueryLayout, ...]
    """The layouts of the queries, upstream first."""

    @property
    def slots(self) -> int:
        """Slots that all queries need together."""
        return sum(query.slots for query in self.queries)

    @property
    def shared_stages(self) -> tuple[Stage, ...]:
        """Stages in which more than one element runs, so that their CPU time is known in sum only."""
        return tuple(stage for query in self.queries for stage in query.stages if len(stage.elements) > 1)


def cut(topology: Topology) -> tuple[Chain, ...]:
    """Cut a topology into chains, upstream first."""
    _check_runnable(topology)
    return _chains(topology)


def inner_readers(topology: Topology) -> tuple[str, ...]:
    """Name the operators that read a topic between two queries."""
    return tuple(chain.operators[0] for chain in _chains(topology) if not chain.sources)


def inner_topics(topology: Topology, tasks: Mapping[str, int]) -> dict[str, int]:
    """Count the partitions of the topics between queries, by the operator that reads them."""
    readers = inner_readers(topology)
    return {
        operator.name: inbox_partitions(operator, tasks[operator.name])
        for operator in topology.operators
        if operator.name in readers
    }


def inbox_partitions(operator: Operator, tasks: int) -> int:
    """Count the partitions of the topic that such an operator reads: state has its tasks from a shuffle behind it."""
    return 1 if operator.stateful else tasks


def _chains(topology: Topology) -> tuple[Chain, ...]:
    pieces = [piece for run in _runs(topology) for piece in _split_at_state(topology, run)]
    firsts = {next(iter(operators)) for sources, operators in pieces if operators and not sources}
    chains = []
    for sources, operators in pieces:
        last = (*sources, *operators)[-1]
        consumers = tuple(name for name in topology.successors(last) if name in firsts)
        chains.append(Chain(sources, operators, consumers))
    position = {name: index for index, name in enumerate(topology.names)}
    return tuple(sorted(chains, key=lambda chain: min(position[name] for name in chain.elements)))


def layout(topology: Topology, configuration: Configuration, *, fused: bool = False, apart: bool = False) -> Layout:
    """Lay the configuration out in queries and stages.

    `fused` adds no repartition: today's job as written, in which stateless operators run in their producer's tasks.
    `apart` keeps one-task stages apart that Spark would join.
    """
    tasks = configuration.tasks
    missing = [name for name in topology.names if name not in tasks]
    if missing:
        raise ProfileError(
            f"The configuration says nothing of {', '.join(missing)}.", hint="Give every source and operator its tasks."
        )
    return Layout(tuple(_lay_out(topology, chain, tasks, fused=fused, apart=apart) for chain in cut(topology)))


def check_slots(deployed: Layout, slots: int) -> None:
    """Refuse a plan that needs more slots than there are: Spark would start it and let it die."""
    if deployed.slots <= slots:
        return
    parts = ", ".join(
        f"{'+'.join(stage.elements) or 'reading ' + query.chain.name} {stage.tasks}"
        for query in deployed.queries
        for stage in query.stages
    )
    raise ProfileError(
        f"The configuration needs {deployed.slots} slots, there are {slots} ({parts}).",
        hint="Lower the tasks, or give Spark more slots with --master local[N] or a larger cluster.",
    )


def extra_slots(topology: Topology) -> int:
    """Count the slots needed beyond one per task: one for each stateful operator that reads an inbox directly."""
    return sum(1 for chain in cut(topology) if not chain.sources and _operator(topology, chain.operators[0]).stateful)


def _runs(topology: Topology) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield maximal paths of edges that may stay inside a query, as (sources, operators)."""
    starts = {operator.name for operator in topology.operators if not _reads_directly(topology, operator)}
    for source in topology.sources:
        (first, *others) = topology.successors(source.name)
        if others or first in starts:
            yield (source.name,), ()
    for operator in topology.operators:
        sources = tuple(name for name in operator.inputs if isinstance(topology[name], Source))
        if operator.name in starts:
            yield (), tuple(_follow(topology, operator.name))
        elif sources:
            yield sources, tuple(_follow(topology, operator.name))


def _reads_directly(topology: Topology, operator: Operator) -> bool:
    """Tell whether the operator's inputs can be read within the same query."""
    if any(len(topology.successors(name)) > 1 for name in operator.inputs):
        return False
    return len(operator.inputs) == 1 or all(isinstance(topology[name], Source) for name in operator.inputs)


def _follow(topology: Topology, name: str) -> Iterator[str]:
    while True:
        yield name
        after = topology.successors(name)
        if len(after) != 1 or len(_operator(topology, after[0]).inputs) > 1:
            return
        name = after[0]


def _split_at_state(
    topology: Topology, run: tuple[tuple[str, ...], tuple[str, ...]]
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Split a path so that no piece has two stateful operators."""
    sources, operators = run
    start, previous = 0, None
    for index, name in enumerate(operators):
        if not _operator(topology, name).stateful:
            continue
        if previous is not None:
            # A stateless operator before the second stateful one can read the inbox in its own tasks.
            end = index - 1 if index - 1 > previous else index
            yield (sources if start == 0 else ()), operators[start:end]
            start = end
        previous = index
    yield (sources if start == 0 else ()), operators[start:]


def _lay_out(topology: Topology, chain: Chain, tasks: Mapping[str, int], *, fused: bool, apart: bool) -> QueryLayout:
    stages: list[Stage] = []
    state = 1
    inbox = 0
    if chain.sources:
        stages.append(Stage(chain.sources, sum(tasks[name] for name in chain.sources)))
    else:
        first = _operator(topology, chain.operators[0])
        inbox = inbox_partitions(first, tasks[first.name])
        if first.stateful:
            stages.append(Stage((), inbox))
    single = False
    for name in chain.operators:
        stateful = _operator(topology, name).stateful
        state = tasks[name] if stateful else state
        joins = stateful and single and tasks[name] == 1 and not apart
        if not stages:
            stages.append(Stage((name,), inbox))
        elif joins or (fused and not stateful):
            stages[-1] = Stage((*stages[-1].elements, name), stages[-1].tasks)
        else:
            stages.append(Stage((name,), tasks[name]))
            single = not stateful and tasks[name] == 1
    return QueryLayout(chain, tuple(stages), state, inbox)


def _operator(topology: Topology, name: str) -> Operator:
    element = topology[name]
    if not isinstance(element, Operator):
        raise TopologyError(f"'{name}' is a source, not an operator.")
    return element


def _check_runnable(topology: Topology) -> None:
    for operator in topology.operators:
        if operator.function is None:
            raise TopologyError(
                f"Operator '{operator.name}' has no function, so Spark cannot run it.",
                hint="Give it one, or use --engine simulated.",
            )
        if operator.batches is not None and operator.schema is None:
            raise TopologyError(
                f"Operator '{operator.name}' iterates over {operator.batches} batches but states no schema.",
                hint="Add its output schema: schema='event_time timestamp, …'.",
            )
        if operator.batches is not None and operator.stateful:
            raise TopologyError(
                f"Operator '{operator.name}' is stateful but iterates over batches, which Spark keeps no state for.",
                hint="Write it as a function DataFrame -> DataFrame.",
            )
