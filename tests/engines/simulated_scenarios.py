"""Small builders of topologies and configurations for the tests of engines."""

from hypothesis import strategies as st

from profiler import Cost, Operator, Source, Topology
from profiler.job.configuration import Configuration


def chain(*operators: Operator, source: Source | None = None) -> Topology:
    """A source that costs next to nothing, and these operators."""
    return Topology.chain("chain", source or Source("in", cost=Cost(cpu_ms=0.001)), *operators)


def tasks(topology: Topology, *counts: int) -> Configuration:
    """Tasks in the topology's order."""
    return Configuration.of(dict(zip(topology.names, counts, strict=True)))


@st.composite
def topologies(draw: st.DrawFn, max_operators: int = 6) -> Topology:
    """Random DAGs: fan-in and fan-out, CPU and waiting mixed, keyed, workload- and logic-dependent operators."""
    sources = [Source(f"s{number}") for number in range(draw(st.integers(1, 2)))]
    names = [source.name for source in sources]
    operators: list[Operator] = []
    count = draw(st.integers(1, max_operators))
    for number in range(count):
        inputs = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
        if number == count - 1:
            read = {name for operator in operators for name in operator.inputs}
            inputs = sorted({*inputs, *(source.name for source in sources if source.name not in read)})
        output = draw(st.sampled_from([None, "proportional", "workload", "logic"]))
        operators.append(
            Operator(
                f"o{number}",
                inputs=inputs,
                output=output,
                emits_per_s=draw(st.floats(0.5, 50)) if output == "logic" else None,
                selectivity=draw(st.floats(0.2, 4)),
                stateful=draw(st.booleans()),
                hot_key_share=draw(st.sampled_from([0.0, 0.3, 1.0])),
                cost=Cost(cpu_ms=draw(st.floats(0.01, 2)), wait_ms=draw(st.sampled_from([0.0, 1.0, 10.0]))),
            )
        )
        names.append(f"o{number}")
    return Topology("random", sources, operators)
