"""The aggregate of a tournament: its state, its fold, its commands and its proof.

Where to look:
- state: tournament.py Tournament
- commands of entrants, check-ins and draws: basic_commands.py TournamentCommand
- pairing of a round: pairing.py pair_rounds
- proof of an export: tournament_proof.py
"""
