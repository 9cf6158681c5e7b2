"""The command: python3 -m draftlab.audit FILE.py, or --log FILE.jsonl."""

from draftlab.audit.command import main

if __name__ == "__main__":
    raise SystemExit(main())
