"""What has come out of several queries: the one that is furthest behind counts, of those that tell."""

from __future__ import annotations

from profiler.engines.spark.load.branch_progress import FEWEST_ROWS, LONG_LOOK_S, PATIENCE_S, Furthest, Looks
from profiler.engines.spark.load.throttle import LOOK_S, Arrivals

NOW_S = 1000.0


def marks(count: int, due_s: float) -> list[float]:
    return [due_s] * count


def rows(count: int, until_s: float) -> list[float]:
    """A mark each, 20 per second."""
    return [until_s - 0.05 * back for back in reversed(range(count))]


def test_looks_tell_the_last_moment() -> None:
    """How many rows, and the newest due time now and at its beginning."""
    looks = Looks()
    looks.add(NOW_S - 3 * LOOK_S, 5, 990.0)
    looks.add(NOW_S - 2 * LOOK_S, 7, 991.0)
    looks.add(NOW_S - LOOK_S / 2, 3, 992.0)
    assert looks.arrivals(NOW_S) == Arrivals(3, 992.0, 991.0)
    assert Looks().arrivals(NOW_S) == Arrivals()


def test_the_slowest_branch_counts() -> None:
    """A fast one that is far ahead changes nothing."""
    furthest = Furthest({"fast": 1, "slow": 1}, frozenset({"fast", "slow"}))
    furthest.add("fast", NOW_S, marks(500, 999.0))
    furthest.add("slow", NOW_S, marks(20, 990.0))
    assert furthest.arrivals(NOW_S) == Arrivals(20, 990.0, 990.0)


def test_all_queries_are_waited_for_in_the_first_deployment() -> None:
    """Nothing is told before the slow one has shown enough: else the fast one's pace would drown it."""
    furthest = Furthest({"fast": 1, "slow": 1}, None)
    due_s = rows(500, until_s=999.0)
    furthest.add("fast", NOW_S, due_s)
    assert furthest.arrivals(NOW_S + 1) == Arrivals()
    furthest.add("slow", NOW_S + 2, marks(FEWEST_ROWS, due_s[0]))
    assert furthest.arrivals(NOW_S + 2) == Arrivals(), "many marks of one row are not many rows"
    furthest.add("slow", NOW_S + 2, due_s[:FEWEST_ROWS])
    assert furthest.arrivals(NOW_S + 2).newest_due_s == due_s[FEWEST_ROWS - 1]
    assert furthest.telling == {"fast", "slow"}


def test_a_query_that_shows_nothing_is_waited_for_in_vain_once() -> None:
    """One that emits on a timer or drops most rows tells nothing, in this deployment and in the next."""
    furthest = Furthest({"counts": 1, "ranking": 1}, None)
    furthest.add("counts", NOW_S, rows(50, until_s=999.0))
    furthest.add("ranking", NOW_S, marks(1, 900.0))
    assert furthest.arrivals(NOW_S + PATIENCE_S - 1) == Arrivals()
    assert furthest.arrivals(NOW_S + PATIENCE_S).newest_due_s == 999.0
    assert furthest.telling == {"counts"}
    again = Furthest({"counts": 1, "ranking": 1}, furthest.telling)
    again.add("counts", NOW_S, marks(1, 999.5))
    assert again.arrivals(NOW_S).newest_due_s == 999.5


def test_a_query_that_speaks_now_and_then_does_not_tell() -> None:
    """It would always seem to be behind, and the job would be held back for nothing."""
    furthest = Furthest({"counts": 1, "half": 1, "ranking": 1}, None)
    due_s = rows(200, until_s=999.0)
    furthest.add("counts", NOW_S, due_s)
    furthest.add("half", NOW_S, due_s[1::2])
    furthest.add("ranking", NOW_S, due_s[::20] * 10)
    assert furthest.arrivals(NOW_S).newest_due_s == 999.0
    assert furthest.telling == {"counts", "half"}


def test_queries_of_another_plan_do_not_tell() -> None:
    """Today's job as written may have other queries than the one that was seen first."""
    assert Furthest({"all": 1}, frozenset({"fast", "slow"})).arrivals(NOW_S) == Arrivals()


def test_rows_may_be_under_way_longer_where_they_pass_more_queries() -> None:
    """Three seconds behind four queries are less than two seconds behind one."""
    furthest = Furthest({"near": 1, "far": 4}, frozenset({"near", "far"}))
    furthest.add("near", NOW_S, marks(9, NOW_S - 2))
    furthest.add("far", NOW_S, marks(9, NOW_S - 3))
    assert (furthest.arrivals(NOW_S).newest_due_s, furthest.arrivals(NOW_S).hops) == (NOW_S - 2, 1)


def test_a_burst_after_a_pause_is_no_capacity() -> None:
    """A query of a DAG gives 100 rows/s, all of a second's in its last tenth: over a batch that is 100 rows/s."""
    furthest = Furthest({"pausing": 1}, frozenset({"pausing"}))
    for second in range(6):
        for part in range(10):
            due_s = [second + (10 * part + row) / 100 for row in range(10)]
            furthest.add("pausing", NOW_S + second + 0.9 + part / 100, due_s)
    seen = furthest.arrivals(NOW_S + 6)
    assert seen.over_s == LONG_LOOK_S
    assert abs((seen.newest_due_s - seen.earlier_due_s) / seen.over_s - 1) < 0.05


def test_before_there_is_a_whole_batch_the_time_so_far_counts() -> None:
    """Else a job that has just begun would seem slow, and be approached slowly."""
    furthest = Furthest({"new": 1}, frozenset({"new"}))
    for part in range(11):
        furthest.add("new", NOW_S + part / 10, marks(5, 900 + part / 10))
    assert furthest.arrivals(NOW_S + 1) == Arrivals(55, 901.0, 900.0, 1.0)
