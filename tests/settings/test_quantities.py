"""Durations, parts, rates and counts are read as people write them, and refused otherwise."""

import pytest

from profiler.settings.quantities import count, duration, number, rate, ratio, switch


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("500ms", 0.5), ("3s", 3.0), ("10m", 600.0), ("1h", 3600.0), ("1.5s", 1.5), (" 3 s ", 3.0), ("3S", 3.0)],
)
def test_a_duration_is_read_in_its_unit(written: str, seconds: float) -> None:
    assert duration().parse(written) == seconds


def test_a_duration_can_be_read_as_milliseconds() -> None:
    assert duration(unit_s=0.001).parse("500ms") == 500
    assert duration(unit_s=0.001).parse("3s") == 3000


@pytest.mark.parametrize("written", ["", "3", "s", "3 sec", "-3s", "0s", "three s", "1e400s x", "nan s", "infs"])
def test_a_malformed_duration_is_refused(written: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the kind only says no; the sentence is made where the key is known
        duration().parse(written)


@pytest.mark.parametrize(
    ("seconds", "shown"), [(3.0, "3s"), (0.25, "250ms"), (600.0, "10m"), (90.0, "90s"), (5400.0, "90m")]
)
def test_a_duration_is_shown_in_the_largest_unit_that_fits(seconds: float, shown: str) -> None:
    assert duration().show(seconds) == shown
    assert duration().parse(shown) == seconds


@pytest.mark.parametrize(
    ("written", "part"), [("2%", 0.02), ("0.02", 0.02), ("100%", 1.0), ("0", 0.0), ("2.5 %", 0.025)]
)
def test_a_part_is_a_percentage_or_a_number(written: str, part: float) -> None:
    assert ratio(zero=True).parse(written) == part


@pytest.mark.parametrize("written", ["2", "-1%", "101%", "two", "%", "0,02"])
def test_a_malformed_part_is_refused(written: str) -> None:
    """A bare 2 is refused: it could mean 2 % or twice."""
    with pytest.raises(ValueError):  # noqa: PT011
        ratio(zero=True).parse(written)


def test_zero_is_a_part_only_where_it_makes_sense() -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        ratio(zero=False).parse("0%")


@pytest.mark.parametrize(
    ("written", "per_s"), [("5000", 5000.0), ("5k/s", 5000.0), ("1.5M/s", 1.5e6), ("200/s", 200.0), ("0.5", 0.5)]
)
def test_a_rate_is_rows_per_second(written: str, per_s: float) -> None:
    assert rate().parse(written) == per_s
    assert rate().parse(rate().show(per_s)) == per_s


@pytest.mark.parametrize("written", ["0", "-5", "5k/m", "fast", "5 000", "k/s"])
def test_a_malformed_rate_is_refused(written: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        rate().parse(written)


@pytest.mark.parametrize("written", ["0", "-1", "1.5", "many", ""])
def test_a_malformed_count_is_refused(written: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        count(least=1).parse(written)


def test_a_number_has_a_lower_bound() -> None:
    assert number(least=1).parse("2.5") == 2.5
    with pytest.raises(ValueError):  # noqa: PT011
        number(least=1).parse("0.9")


def test_a_switch_knows_the_usual_words() -> None:
    assert [switch().parse(word) for word in ("true", "YES", "1", "off", "No")] == [True, True, True, False, False]
    with pytest.raises(ValueError):  # noqa: PT011
        switch().parse("maybe")
