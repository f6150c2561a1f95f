"""Two sources that meet, and two operators that read from one."""

from profiler import Cost, Operator, Source, Topology

topology = Topology(
    "clicks",
    [Source("left"), Source("right")],
    [
        Operator("join", inputs=["left", "right"], cost=Cost(cpu_ms=0.1, wait_ms=2), tasks=4, max_tasks=8),
        Operator("sum", inputs=["join"], stateful=True, key="user", cost=Cost(cpu_ms=0.1), min_tasks=2),
        Operator("top", inputs=["join"], parallel=False, output="logic", cost=Cost(cpu_ms=0.1)),
    ],
)
