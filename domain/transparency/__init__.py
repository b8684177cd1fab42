"""The log of all games as others can check it: its Merkle tree, signed checkpoints, proofs, and witnesses."""
