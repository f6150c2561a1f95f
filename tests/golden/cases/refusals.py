"""Bad inputs: one sentence on stderr that names what is wrong, and the exit code."""

from __future__ import annotations

from pathlib import Path

from tests.golden.transcript import Transcript

HEAD = "from profiler import Cost, Operator, Source, Topology\n"
TOPOLOGIES = (
    'topology = Topology("t", [Source("s")], [Operator("a", inputs=["s", "b"]), Operator("b", inputs=["a"])])',
    'topology = Topology("t", [Source("s")], [Operator("a", inputs=["z"])])',
    'topology = Topology("t", [Source("s")], [Operator("s", inputs=["s"])])',
    'topology = Topology("t", [Source("s")], [Operator("", inputs=["s"])])',
    'topology = Topology("t", [Source("s")], [Operator("a", inputs=["s"]), Operator("b")])',
    'topology = Topology("t", [], [Operator("a", inputs=["s"])])',
    'topology = Topology("t", [Source("s")], [])',
    'topology = Topology("t", [Source("s")], [Operator("a", inputs=["s"], cost=Cost(wait_ms=-5))])',
    'topology = Topology("t", [Source("s")], [Operator("a", inputs=["s"], cost=Cost(cpu_ms=0))])',
    'topology = Topology("t", [Source("s")], [Operator("a", inputs=["s"], selectivity=0)])',
    'topology = Topology("t", [Source("s")], [Operator("a", inputs=["s"], min_tasks=5, max_tasks=3)])',
    'topology = Topology("t", [Source("s")], [Operator("a", inputs=["s"], parallel=False, tasks=3)])',
    'topology = Topology("t", [Source("s")], [Operator("a", inputs=["s"], output="all")])',
    'topology = Topology("t", [Source("s")], [Operator("a", inputs=["s"], stateful=True)])',
    'topology = Topology("t", [Source("s")], [Operator("a", 3, inputs=["s"])])',
    'topology = Topology("t", [Source("s", payloads="nowhere.jsonl")], [Operator("a", inputs=["s"])])',
    'topology = Topology("t", [Source("s")], [Operator("a", inputs=["s"])], latency_ms=-1)',
    "topology = {'a': 1}",
    "import nothing_of_that_name",
    "1 / 0",
    "x = [",
    "other = 1",
)
CALLS = (
    "linaer",
    "nowhere.py",
    "nowhere:topology",
    "os.path:topology",
    "linear:nothing",
    "linear?depth=many",
    "linear?dept=3",
    "diamond --slots 0",
    "linear?depth=12 --slots 11",
    "linear --slots few",
    "linear --slotz 3",
    "",
    "linear --master yarn",
    "linear --payloads nowhere.jsonl",
    "linear --payloads tweets=lines.jsonl",
    "linear --conf shuffle=3",
)
OF_RUN = (
    "--latency 500",
    "--window 0s",
    "--windows 1",
    "--budget -1m",
    "--give-back 200%",
    "--policy best",
    "--noise loud",
    "--engine flink",
    "--nodes 0",
    "--seed -1",
    "--stop-factor 0.5",
    "--kafka nowhere",
    "--mongo nowhere",
    "--export md",
    "--export junit=a.xml",
    "--export pdf=a.pdf",
    "--json no/such/folder.json",
    "--resume 20250101-000000-00000000 --mongo mongodb://nowhere",
    "--prefill 0",
)
OTHERS = (
    "nothing",
    "gate linear --engine simulated",
    "gate linear --engine simulated --aa --drill 20%",
    "gate linear --engine simulated --drill 0%",
    "gate linear --engine simulated --aa --tasks work-1",
    "gate linear --engine simulated --aa --tasks nothing=3",
    "gate linear --engine simulated --aa --tasks work-1=0",
    "gate linear --engine simulated --baseline main --mongo mongodb://nowhere",
    "gate linear --engine simulated --against linaer",
    "gate linear --engine simulated --aa --blocks 1",
    "gate linear --engine simulated --aa --max-slowdown 10% --rule-out 5%",
    "compare linear --engine simulated",
    "compare linear linaer --engine simulated",
    "compare linear diamond --engine simulated --slots 4",
    "compare linear diamond --engine simulated --resume a",
    "recalibrate nothing --mongo mongodb://nowhere",
    "recalibrate --mongo mongodb://nowhere",
    "recalibrate nowhere.json",
    "recalibrate empty.json",
    "recalibrate --dry-run --watch",
    "recalibrate --job a",
    "history",
    "history nothing",
    "history show nothing",
    "history export nothing a.jsonl",
    "history import nowhere.jsonl",
    "history import empty.json",
    "history import text.jsonl",
    "history list --engine flink",
    "history list --kind nothing",
    "history list --state nothing",
    "history list --since yesterday",
    "history list --limit 0",
    "history prune",
    "history prune --older-than soon",
    "history prune nothing --dry-run",
    "capture topic",
    "capture topic --kafka nowhere",
    "generate topic --rate 5",
    "generate topic --rate fast --kafka localhost:1",
    "generate topic --rate 5k/s --for 0s --kafka localhost:1",
    "generate topic --rate 5k/s --payloads nowhere.jsonl --kafka localhost:1",
    "config show --slots 3",
    "config nothing",
)


def topologies(transcript: Transcript) -> None:
    for text in TOPOLOGIES:
        transcript.file("job.py", f"{HEAD}{text}\n")
        transcript.note(text)
        transcript.profile("check", "job.py", "--no-spark", "--slots", "20")
    transcript.file("job.py", f"{HEAD}{TOPOLOGIES[0]}\n")
    transcript.profile("run", "job.py", "--engine", "simulated")
    transcript.profile("gate", "job.py", "--aa", "--engine", "simulated")


def calls(transcript: Transcript) -> None:
    for call in CALLS:
        transcript.profile("check", *call.split(), "--no-spark")
    for call in CALLS[:12]:
        transcript.profile("run", *call.split(), "--engine", "simulated")


def options_of_run(transcript: Transcript) -> None:
    for options in OF_RUN:
        transcript.profile("run", "linear", "--engine", "simulated", "--quick", "--quiet", *options.split())


def other_commands(transcript: Transcript) -> None:
    transcript.file("empty.json", "{}\n")
    transcript.file("text.jsonl", "no history\nat all\n")
    for call in OTHERS:
        transcript.profile(*call.split())


def settings(transcript: Transcript) -> None:
    wrong = ("slotz = 4", 'slots = "few"', "latency = 500", "[gate]\nslots = 4", "slots = [", 'policy = "best"')
    for text in wrong:
        transcript.file("profile.toml", f"{text}\n")
        transcript.note(text)
        transcript.profile("config", "show")
    Path("profile.toml").unlink()
    transcript.file("pyproject.toml", "[tool.profile\n")
    transcript.profile("run", "linear", "--engine", "simulated")
