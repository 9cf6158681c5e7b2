"""The checks of one trace, sample by sample."""

from draftlab.recheck.agreement import Agreement
from draftlab.recheck.counts import check_counts
from draftlab.recheck.laws import check_laws
from draftlab.recheck.record import Record
from draftlab.recheck.routing import check_routes
from draftlab.recheck.verdicts import check_verdicts


def recheck(path: str, model: bool = False) -> Agreement:
    """Computes again what the trace at `path` says; with `model` the probabilities, too. Raises
    OSError or ValueError for a file that is no trace."""
    record = Record(path)
    found = Agreement()
    if not record.all_drafts:
        found.cannot("samples whose drafts are not all recorded (trace.drafts = all)", len(record))
    laws: dict = {}
    for sample in record:
        if record.all_drafts:
            check_verdicts(sample, found)
            check_routes(sample, found)
            if model:
                check_laws(record, sample, laws, found)
        check_counts(sample, found)
    return found
