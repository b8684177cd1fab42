"""The game aggregate: its commands, its projector function, deadlines and undo.

Where to look:
- pause by vote: proposals.py
- resignation: table_commands.py Leave
- undo: undo.py
- retries of a lost race: ../../record_writer.py RecordWriter
"""
