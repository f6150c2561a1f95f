"""Policies: pure strategies that choose the next trial from the history of rounds; this is their catalogue.

A new policy is a module here that declares its `POLICY`, and a member of `PolicyName`, by whose name it is found.
"""

from __future__ import annotations

from importlib import import_module

from profiler.questions.search.policies.policy import Policy
from profiler.settings.choices import PolicyName


def _policy_of(name: PolicyName) -> type[Policy]:
    policy: type[Policy] = import_module(f"{__name__}.{name.name.lower()}").POLICY
    return policy


POLICIES: dict[str, type[Policy]] = {name.value: _policy_of(name) for name in PolicyName}
"""All policies, by the name that a user asks for."""
