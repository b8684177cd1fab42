"""The guided first game of each ruleset."""
