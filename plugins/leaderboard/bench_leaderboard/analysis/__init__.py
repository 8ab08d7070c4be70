"""From records to numbers: the table of policies, selection on validation, means and intervals."""
