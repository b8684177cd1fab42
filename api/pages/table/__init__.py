"""The page of a table: question, chronicle, votes, live updates, the desk of its officers."""
