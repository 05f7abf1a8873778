"""What all suites share: running and timing programs, corpora, statistics, reports."""
