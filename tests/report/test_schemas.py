"""The published JSON schemas: what the types of the documents say, and nothing else."""

from __future__ import annotations

import jsonschema
import pytest

from profiler.questions.schemas import PUBLISHED


@pytest.mark.parametrize("mark", PUBLISHED)
def test_the_published_schema_is_that_of_the_types(mark):
    """A key that was added to a type is published with it: python -m profiler.questions.schemas."""
    published = PUBLISHED[mark].read()
    jsonschema.Draft202012Validator.check_schema(published)
    assert published == PUBLISHED[mark].generated()
    assert published["properties"]["schema"] == {"const": mark}
