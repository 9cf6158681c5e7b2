"""Set statistics of images by numpy, from exported features and class probabilities."""

import csv
import io
import subprocess

import numpy as np
from conftest import BINARIES, ROOT

WANTED = ["frechet_plain", "frechet", "class_score", "class_score_splits", "class_score_deviation"]


def ok(*words):
    done = subprocess.run(
        [str(BINARIES / "draftlab"), *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def frechet(features):
    """Held-out images have zero mean and unit covariance, so tr (C I)^(1/2) is tr C^(1/2)."""
    values = np.linalg.eigvalsh(np.cov(features.T))
    mean = features.mean(0)
    return mean @ mean + values.sum() + len(values) - 2 * np.sqrt(values.clip(0)).sum()


def inception(probabilities):
    mean = probabilities.mean(0)
    terms = probabilities * (np.log(probabilities.clip(1e-300)) - np.log(mean.clip(1e-300)))
    return np.exp(terms.sum(1).mean())


def test_scores_of_exported_features(tmp_path):
    trace = tmp_path / "images.h5"
    ok("run", "configs/base/images.ini", "--limit", 60, "--router", "never", "--out", trace)
    ok("export", trace, "--csv", tmp_path)
    with open(tmp_path / "sample.csv", encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    columns = lambda part: [name for name in rows[0] if part in name]
    numbers = lambda part: np.array([[float(row[name]) for name in columns(part)] for row in rows])
    features, classes = numbers("image_feature_"), numbers("image_class_")
    assert features.shape == (60, 8) and classes.shape == (60, 10)

    text = ok("report", trace, "--metric", ",".join(WANTED), "--format", "csv")
    read = {row["metric"]: float(row["value"]) for row in csv.DictReader(io.StringIO(text))}
    assert list(read) == WANTED
    plain, n = frechet(features), len(features)
    without = [frechet(np.delete(features, i, 0)) for i in range(n)]
    splits = [inception(part) for part in np.array_split(classes, 10)]
    by_numpy = {
        "frechet_plain": plain,
        "frechet": n * plain - (n - 1) * np.mean(without),
        "class_score": inception(classes),
        "class_score_splits": np.mean(splits),
        "class_score_deviation": np.std(splits),
    }
    for name, value in by_numpy.items():
        np.testing.assert_allclose(read[name], value, rtol=1e-4, atol=1e-6, err_msg=name)
