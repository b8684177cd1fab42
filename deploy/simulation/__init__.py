"""What plays games: bots, simulations, probes of the rules, replays, and the demo over HTTP."""
