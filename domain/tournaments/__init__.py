"""The sums of a tournament: draws, designs, pods, seats, bids, scores and ties, as pure functions.

Points are integers in ticks, tie-breaks exact fractions. Entrants are numbers from 0, in order of entry.

Where to look:
- Swiss system: formats.py draw_swiss_round
- pods of a Swiss round: pods.py draw_swiss_pods
"""
