"""Kinds of engines: every name leads to a kind, and a setting that a kind can do nothing with is told."""

from __future__ import annotations

import pytest

from profiler.engines.catalogue import KnownPlatform, kind_of
from profiler.engines.opening import foreseen_platform, opened_engine
from profiler.errors import ProfileError
from profiler.job.loading import load_topology
from profiler.settings.choices import EngineName
from profiler.settings.declarations import OPTIONS, Settings
from profiler.settings.option import Ability

MADE = {
    "warm-up": Settings(warm_up_s=5.0),
    "conf": Settings(conf=("spark.a=b",)),
    "kafka": Settings(kafka="here:9092"),
    "master": Settings(master="local[2]"),
    "payloads": Settings(payloads=("lines.jsonl",)),
    "prefill": Settings(prefill=10),
    "nodes": Settings(nodes=2),
    "cores": Settings(cores=4),
    "seed": Settings(seed=7),
}


@pytest.mark.parametrize("name", EngineName)
def test_every_name_has_a_kind(name: EngineName) -> None:
    assert kind_of(name).name is name


@pytest.mark.parametrize("key", MADE)
def test_a_setting_is_used_by_an_engine_or_told_to_be_useless(key: str) -> None:
    """What one kind cannot do another one can; nobody's setting is ignored in silence."""
    option = next(option for option in OPTIONS if option.key == key)
    assert option.needs is not None
    useless = {name: kind_of(name).unused(MADE[key]) for name in EngineName}
    assert [option.flag] in useless.values()
    assert [] in useless.values()
    assert {name for name, flags in useless.items() if not flags} == {
        name for name in EngineName if kind_of(name).has(option.needs)
    }


def test_settings_that_nobody_made_are_not_told() -> None:
    assert [kind_of(name).unused(Settings()) for name in EngineName] == [[] for _ in EngineName]


def test_every_ability_is_some_engines() -> None:
    """An ability that no engine has would make its settings useless everywhere."""
    assert set(Ability) == {ability for name in EngineName for ability in kind_of(name).abilities}


def test_a_simulated_engine_is_foreseen_as_it_is() -> None:
    """What is told without opening an engine is what it says when it is open."""
    topology, settings = load_topology("linear"), Settings(engine=EngineName.SIMULATED, nodes=3, cores=4)
    with opened_engine(topology, settings, lambda _: None) as engine:
        there = engine.platform, engine.slots_for(topology)
    assert foreseen_platform(topology, settings, KnownPlatform({}, None)) == there


def test_state_that_nobody_keeps_is_not_filled() -> None:
    settings = Settings(engine=EngineName.SIMULATED, prefill=10)
    with pytest.raises(ProfileError, match="keeps no state that --prefill could fill"):
        foreseen_platform(load_topology("word-count"), settings, KnownPlatform({}, None))
