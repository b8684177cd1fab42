"""The command line `annals`.

Where to look:
- annals show: main.py print_story
- annals simulate: ../simulation/simulate.py
"""
