#!/usr/bin/env python3
"""Makes one text file of public-domain prose, one document a line, for configs/train/prose.ini.

Usage: prepare_prose.py FOLDER OUTPUT

FOLDER holds aesop/, classic-childrens-books/, eltec-eng/ and fairytaleqa/ (data/README.md says
where they come from); what is missing is skipped. Markup is dropped, white space collapsed, and
paragraphs of one book are joined until a document has at least LEAST characters, so that dialogue
does not fall into one-line documents.
"""

import csv
import html
import json
import re
import sys
import tarfile
from pathlib import Path

LEAST = 600


def tidy(text):
    return " ".join(html.unescape(text).split())


def joined(paragraphs):
    """Documents of at least LEAST characters; the rest of a book is its last document."""
    held, length = [], 0
    for paragraph in paragraphs:
        if paragraph:
            held.append(paragraph)
            length += len(paragraph) + 1
        if length >= LEAST:
            yield " ".join(held)
            held, length = [], 0
    if held:
        yield " ".join(held)


def members(archive, suffix):
    with tarfile.open(archive) as files:
        for member in sorted(files.getmembers(), key=lambda each: each.name):
            if member.isfile() and member.name.endswith(suffix):
                yield files.extractfile(member).read().decode("utf-8", errors="ignore")


def aesop(folder):
    for fable in json.loads((folder / "aesop4children.json").read_text()):
        yield from joined([tidy(fable["fable"]), tidy(fable.get("lesson") or "")])


def fairytales(folder):
    stories = {}
    with open(folder / "sentence_level_train.csv", newline="") as file:
        for row in csv.DictReader(file):
            stories.setdefault(row["document_id"], []).append(tidy(row["text"]))
    for sentences in stories.values():
        yield from joined(sentences)


def markdown_books(folder):
    for book in members(folder / "classic-childrens-books.tar.xz", ".md"):
        body = re.sub(r"\A---\n.*?\n---\n", "", book, flags=re.S)
        body = re.sub(r"!\[[^\]]*\]\([^)]*\)|<[^>]+>", " ", body)
        body = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", body)
        paragraphs = [
            p
            for p in re.split(r"\n\s*\n", body)
            if not p.lstrip().startswith(("#", "|", "* * *"))
        ]
        yield from joined(tidy(re.sub(r"[*_`\\]|^>\s?", "", p, flags=re.M)) for p in paragraphs)


def tei_novels(folder):
    for novel in members(folder / "eltec-eng-level1.tar.xz", ".xml"):
        body = re.search(r"<body\b.*</body>", novel, flags=re.S)
        body = re.sub(r"<pb\b[^>]*/>\s*\]?", " ", body.group(0) if body else "")
        body = re.sub(r"<(note|head|ref)\b.*?</\1>", " ", body, flags=re.S)
        paragraphs = re.findall(r"<p\b[^>]*>(.*?)</p>", body, flags=re.S)
        yield from joined(tidy(re.sub(r"<[^>]+>", " ", p)) for p in paragraphs)


def main():
    folder, output = Path(sys.argv[1]), Path(sys.argv[2])
    sources = {
        "aesop": aesop,
        "fairytaleqa": fairytales,
        "classic-childrens-books": markdown_books,
        "eltec-eng": tei_novels,
    }
    with open(output, "w") as out:
        for name, read in sources.items():
            count = size = 0
            for document in read(folder / name) if (folder / name).is_dir() else []:
                out.write(document + "\n")
                count, size = count + 1, size + len(document)
            print(f"{name}: {count} documents, {size} characters")


if __name__ == "__main__":
    main()
