"""Traces in the files of other trackers: Parquet, TensorBoard, W&B (`draftlab export`)."""
