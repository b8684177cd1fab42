"""The question of a seat: choices of the move builder, order sheets, reasons why not."""
