"""Records of others, read into what `draftlab simulate` reads: see docs/GPU.md."""
