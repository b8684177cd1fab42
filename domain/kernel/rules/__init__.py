"""The contract of a ruleset: decisions, frames, choices, draws and drafts."""
