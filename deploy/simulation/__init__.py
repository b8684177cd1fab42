"""Programs that play or read games: bots, simulations, probes of the rules, replays, the demo over HTTP."""
