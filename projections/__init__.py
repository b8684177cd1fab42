"""The read side: views projected from the log.

Where to look:
- SQL of the timeline: board_reader.py TIMELINE
- past versions: past_games.py
- tables of the views, and their migration: view_store.py
"""
