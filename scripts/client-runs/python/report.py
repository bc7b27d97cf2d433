"""Writes one line of JSON for each test that ran, for scripts/client-runs/run.ts."""

import json
import os

import pytest

REPORT = open(os.environ["CLIENTS_REPORT"], "a", encoding="utf-8")


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    # Set-up and tear-down count only where they fail.
    if report.when != "call" and report.outcome == "passed":
        return
    xfail = getattr(report, "wasxfail", None)
    outcome = "skipped" if xfail is not None and report.skipped else report.outcome
    record = {"test": report.nodeid, "outcome": outcome, "words": report.longreprtext[-2000:]}
    REPORT.write(json.dumps(record) + "\n")
    REPORT.flush()


def pytest_collectreport(report):
    if report.failed:
        record = {"test": report.nodeid or "collection", "outcome": "failed", "words": report.longreprtext}
        REPORT.write(json.dumps(record) + "\n")
        REPORT.flush()
