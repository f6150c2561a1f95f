"""The machine's own counters, read from what systems write of them."""

from __future__ import annotations

import pytest

from profiler.engines.spark.jvm.garbage import Garbage
from profiler.engines.spark.jvm.system_counters import (
    SystemCounters,
    busy_and_stolen_s,
    disturbance_between,
    own_cores,
    paged_out_mb,
    throttled_s,
)

VMSTAT = """nr_free_pages 901
pswpin 12
pswpout 512
pgmajfault 1221
"""
QUOTA_2 = "usage_usec 100\nnr_periods 9\nnr_throttled 4\nthrottled_usec 2500000\n"
QUOTA_1 = "nr_periods 9\nnr_throttled 4\nthrottled_time 3500000000\n"
MEMBER_2 = "0::/jobs/mine\n"
MEMBER_1 = "9:name=systemd:/\n4:memory:/big\n1:cpu,cpuacct:/jobs/mine\n0::/\n"


def group(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".", 1)).write_text(text)


def test_what_was_moved_to_disk_is_read_in_pages():
    """512 pages of 4 KB are 2 MB; a system that keeps no such account tells nothing."""
    assert paged_out_mb(VMSTAT, 4096) == pytest.approx(2.0)
    assert paged_out_mb("nr_free_pages 901\n", 4096) is None


def test_a_quota_is_found_in_the_own_group_or_above(tmp_path):
    """Version 2 has one tree and microseconds; the quota is often that of the container, further up."""
    group(tmp_path / "jobs" / "mine", cpu_max="max 100000", cpu_stat=QUOTA_2.replace("2500000", "9000000"))
    assert throttled_s(MEMBER_2, tmp_path) is None
    group(tmp_path / "jobs", cpu_max="150000 100000", cpu_stat=QUOTA_2)
    assert throttled_s(MEMBER_2, tmp_path) == pytest.approx(2.5)


def test_a_quota_of_version_1_is_found(tmp_path):
    """It has a tree for each controller and nanoseconds; −1 is no quota."""
    mine = tmp_path / "cpu,cpuacct" / "jobs" / "mine"
    group(mine, cpu_stat=QUOTA_1)
    (mine / "cpu.cfs_quota_us").write_text("-1\n")
    assert throttled_s(MEMBER_1, tmp_path) is None
    (mine / "cpu.cfs_quota_us").write_text("150000\n")
    assert throttled_s(MEMBER_1, tmp_path) == pytest.approx(3.5)


def test_no_account_is_no_quota(tmp_path):
    """Systems without control groups."""
    assert throttled_s("", tmp_path) is None
    assert throttled_s(MEMBER_2, tmp_path) is None


def test_what_is_not_ours_is_others():
    """Of ten busy seconds in five, four are ours: others had 1.2 cores; the host took a fifth of one."""
    before = SystemCounters(busy_s=100.0, stolen_s=3.0, throttled_s=1.0, paged_out_mb=7.0)
    after = SystemCounters(busy_s=110.0, stolen_s=4.0, throttled_s=1.5, paged_out_mb=7.0)
    seen = disturbance_between(before, after, passed_s=5.0, own_s=4.0, cores=4)
    assert (seen.other_cores, seen.stolen_cores) == pytest.approx((1.2, 0.2))
    assert (seen.throttled_s, seen.paged_out_mb) == pytest.approx((0.5, 0.0))
    assert seen.part_left == pytest.approx(1 - 1.4 / 4)


def test_more_of_ours_than_of_all_is_nobody_else():
    """Accounts of processes and of the machine are kept apart, and may differ by a tick."""
    same = SystemCounters(busy_s=100.0, stolen_s=0.0, throttled_s=None, paged_out_mb=None)
    seen = disturbance_between(same, same, passed_s=3.0, own_s=0.01, cores=2)
    assert (seen.other_cores, seen.throttled_s, seen.paged_out_mb) == (0.0, None, None)


def test_this_machine_has_worked():
    """Its cores have an account, and those that this process may not use are left out."""
    assert busy_and_stolen_s(own_cores())[0] > busy_and_stolen_s(())[0] == 0


class Bean:
    def __init__(self, name, milliseconds):
        self.name, self.milliseconds = name, milliseconds

    def getName(self):  # noqa: N802 - Java's
        return self.name

    def getCollectionTime(self):  # noqa: N802 - Java's
        if self.milliseconds is None:
            raise ConnectionError
        return self.milliseconds


class Jvm:
    """Stands for a JVM with these collectors."""

    def __init__(self, *beans):
        self.beans = beans
        self.java = self.lang = self.management = self.ManagementFactory = self

    def getGarbageCollectorMXBeans(self):  # noqa: N802 - Java's
        return self.beans


def test_only_pauses_are_counted_of_collectors():
    """What collects beside the program does not hold it up; −1 stands for what is not known."""
    beans = Bean("G1 Young Generation", 1200), Bean("G1 Old Generation", 300), Bean("G1 Concurrent GC", 5000)
    assert Garbage(Jvm(*beans)).paused_s() == pytest.approx(1.5)
    assert Garbage(Jvm(Bean("ZGC Cycles", 900), Bean("ZGC Pauses", 20))).paused_s() == pytest.approx(0.02)
    assert Garbage(Jvm(Bean("Copy", -1))).paused_s() == 0


def test_a_jvm_that_is_gone_tells_no_pauses():
    """Its end is told by whoever waits for the batch."""
    assert Garbage(Jvm(Bean("Copy", None))).paused_s() is None
