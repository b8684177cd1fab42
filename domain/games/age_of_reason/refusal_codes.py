"""Codes of refusals."""

from __future__ import annotations

from collections.abc import Mapping

CODES: Mapping[str, str] = {
    "already_placed": "AOR-7.4.6",
    "bid_too_high": "AOR-6.5",
    "bid_too_low": "AOR-6.4",
    "bluff_not_allowed": "AOR-8.3.5",
    "cannot_attack_ally": "AOR-8.2.4",
    "cannot_attack_self": "AOR-8.2.4",
    "card_not_allowed": "AOR-8.3.5",
    "card_not_eligible": "AOR-7.4.6",
    "card_not_in_discard": "AOR-7.4.6",
    "card_not_in_hand": "AOR-8.3.5",
    "card_required": "AOR-9.2.3",
    "insufficient_funds": "AOR-15.3",
    "invalid_hire": "AOR-9.4.3",
    "invalid_proposal": "AOR-6.4",
    "invalid_region": "AOR-8.2.4",
    "invalid_target": "AOR-8.2.4",
    "marker_not_attackable": "AOR-8.2.4",
    "must_open_bid": "AOR-6.5",
    "no_attack_left": "AOR-8.2.6",
    "no_control_token": "AOR-1.4",
    "power_taken": "AOR-3.3",
    "region_not_accessible": "AOR-8.2.3",
    "ship_card_required": "AOR-8.3.5",
    "space_occupied": "AOR-7.4.6",
    "target_absent": "AOR-8.2.4",
    "unknown_marker": "AOR-8.2.4",
    "unknown_power": "AOR-3.3",
    "unknown_region": "AOR-8.2.4",
    "unknown_space": "AOR-7.4.6",
    "wrong_marker_kind": "AOR-8.1.5",
}
"""AOR-19.2: refusal code -> rule number."""
