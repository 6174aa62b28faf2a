"""The extractive role-taker: Planner, Synthesizer and Checker as plain rules, for runs without a model."""

from harness.agents.extractive.agent import ExtractiveAgent

__all__ = ["ExtractiveAgent"]
