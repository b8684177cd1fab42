"""The games as environments of PettingZoo, for agents that learn. They need the extra `environments`.

- pick_steps.py: moves as small numbers, one question of the move builder after the other
- view_features.py: what a seat knows as numbers
- table_env.py: agents in turn (AEC)
- parallel_table_env.py: an action of every agent at a time
"""

from deploy.environments.parallel_table_env import ParallelTableEnv, parallel_env
from deploy.environments.table_env import TableEnv, env

__all__ = ["ParallelTableEnv", "TableEnv", "env", "parallel_env"]
