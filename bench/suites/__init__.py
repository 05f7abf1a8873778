"""The suites, one module each: `run(bench)` returns a `lib.report.Result`."""
