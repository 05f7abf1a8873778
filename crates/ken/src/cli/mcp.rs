//! Arguments of `ken mcp`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Args, Clone, Debug)]
pub(crate) struct McpArgs {
    /// A folder that agents may see, with everything below it [default: the git repository of the working
    /// folder]
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,
    /// A folder below these that agents may not see
    #[arg(long, value_name = "DIR")]
    pub(crate) exclude: Vec<PathBuf>,
    /// Let agents see mail too
    #[arg(long)]
    pub(crate) mail: bool,
    /// Print what makes a client start this server, and end
    #[arg(long, value_name = "CLIENT")]
    pub(crate) install: Option<AgentClient>,
}

/// A program that starts servers for its agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentClient {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Visual Studio Code
    #[value(name = "vscode")]
    VsCode,
    /// Cursor
    Cursor,
    /// Zed
    Zed,
    /// Emacs, with mcp.el
    Emacs,
}
