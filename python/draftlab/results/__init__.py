"""Pages of results whose tables are printed by the commands above them: see command.py."""
