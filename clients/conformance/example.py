"""The Python client in the kit: a whole game against two bots of the service."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from annals_client import Annals, at_random

annals = Annals(sys.argv[1])
annals.register(f"Bot {secrets.token_hex(6)}", secrets.token_urlsafe(24), bot=True)
table = annals.open("struggle_of_empires@1", 3)
table.seat_bot(1)
table.seat_bot(2)
seat = table.join(0)
seat.start()
seat.play(at_random)
