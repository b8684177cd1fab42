"""Standing orders of seats: their rules of use and their rows.

They are no records. The seat's next move is a record like any other, and says nothing of an order.
"""
