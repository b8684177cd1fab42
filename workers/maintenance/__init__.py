"""Background maintenance: archive, integrity, outages, clock jumps."""
