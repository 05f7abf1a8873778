//! The statistics that `--stats` and `--json` print at the end.

use std::time::Duration;

use grep_printer::Stats;

/// Returns the statistics, as lines or as one JSON object.
pub(super) fn text(stats: &Stats, elapsed: Duration, json: bool) -> String {
    if json {
        let summary = serde_json::json!({
            "type": "summary",
            "data": {
                "stats": stats,
                "elapsed_total": {
                    "secs": elapsed.as_secs(),
                    "nanos": elapsed.subsec_nanos(),
                    "human": format!("{:0.6}s", elapsed.as_secs_f64()),
                },
            },
        });
        return format!("{summary}\n");
    }
    format!(
        "
{} matches
{} matched lines
{} files contained matches
{} files searched
{} bytes printed
{} bytes searched
{:0.6} seconds spent searching
{:0.6} seconds total
",
        stats.matches(),
        stats.matched_lines(),
        stats.searches_with_match(),
        stats.searches(),
        stats.bytes_printed(),
        stats.bytes_searched(),
        stats.elapsed().as_secs_f64(),
        elapsed.as_secs_f64(),
    )
}
