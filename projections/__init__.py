"""The read side: views projected from the log.

Where to look:
- SQL of the timeline: board_reader.py TIMELINE
- versions of games: viewer_history.py
- tables of the views, and their migration: view_store.py
"""
