//! `ken mail verify`: whether signatures are good, as GnuPG says, which has the keys.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use ken_mail::{Signed, signed};
use ken_search::service::mail::MessageRequest;
use ken_search::service::path_text;
use serde_json::json;

use super::{Mail, which_or_number};
use crate::cli::{Global, VerifyArgs};
use crate::commands::original::Reader;
use crate::failure::{Failure, Kind};
use crate::output;

pub(super) fn run(global: &Global, args: &VerifyArgs) -> Result<ExitCode, Failure> {
    let mail = Mail::open(global)?;
    let reader = Reader::new(&*mail.snapshot, mail.settings.extraction()?);
    let mut n_signatures = 0;
    let mut all_good = true;
    let service = mail.service();
    let messages = service.messages(&MessageRequest {
        which: which_or_number(&service, &args.query)?,
        reverse: true,
        ..MessageRequest::default()
    })?;
    for location in messages.locations() {
        let location = location?;
        let bytes = reader.read(&location)?;
        for part in signed(&bytes, &|bytes| String::from_utf8_lossy(bytes).into_owned()) {
            let verdict = verify(&part)?;
            n_signatures += 1;
            all_good &= verdict.is_good;
            if args.json {
                output::print(&output::json_line(&json!({
                    "v": output::SCHEMA,
                    "path": path_text(&location.path),
                    "ipath": location.ipath,
                    "good": verdict.is_good,
                    "verdict": verdict.text,
                    "signer": verdict.signer,
                })))?;
            } else {
                let signer = match verdict.signer.as_str() {
                    "" => String::new(),
                    signer => format!(" by {}", output::clean(signer)),
                };
                output::print(format!("{location}: {}{signer}\n", verdict.text).as_bytes())?;
            }
        }
    }
    if n_signatures == 0 {
        output::warn("none of the messages are signed");
    }
    Ok(ExitCode::from(match (n_signatures, all_good) {
        (0, _) => 1,
        (_, true) => 0,
        (_, false) => 2,
    }))
}

/// GnuPG's verdict on a signature.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) is_good: bool,
    pub(crate) text: &'static str,
    /// Name and address of the signer, or the key if they are not known.
    pub(crate) signer: String,
    /// Whether a trusted party certifies the owner of the key.
    pub(crate) is_certified: bool,
}

/// Verifies a signature with GnuPG.
pub(crate) fn verify(signed: &Signed) -> Result<Verdict, Failure> {
    let folder = tempfile::tempdir()?;
    let content_path = folder.path().join("content");
    let signature_path = folder.path().join("signature");
    let (program, files) = match signed {
        Signed::Detached {
            content,
            signature,
            is_smime,
        } => {
            fs_err::write(&content_path, content)?;
            fs_err::write(&signature_path, signature)?;
            let program = if *is_smime { "gpgsm" } else { "gpg" };
            (program, vec![signature_path.as_path(), &content_path])
        }
        Signed::Inline(text) => {
            fs_err::write(&content_path, text)?;
            ("gpg", vec![content_path.as_path()])
        }
        Signed::Opaque(data) => {
            fs_err::write(&signature_path, data)?;
            ("gpgsm", vec![signature_path.as_path()])
        }
    };
    let mut verdict = verdict(&ask(program, &files)?);
    if verdict.is_good && program == "gpgsm" && !verdict.is_certified {
        // The certificate comes with the signature: anybody can make one in any name.
        verdict.is_good = false;
        verdict.text = "signature with a certificate that is not trusted";
    } else if verdict.is_good && !verdict.is_certified {
        verdict.text = "good signature with a key that is not certified";
    }
    Ok(verdict)
}

/// Returns the status lines of a verification (GnuPG's doc/DETAILS).
fn ask(program: &str, files: &[&Path]) -> Result<String, Failure> {
    let output = Command::new(program)
        .args(["--batch", "--no-tty", "--status-fd", "1", "--verify"])
        .args(files)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    match output {
        Ok(output) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) => {
            let message = format!("cannot start {program}: {}", output::system_words(&error));
            let package = if program == "gpg" { "gnupg" } else { "gpgsm" };
            Err(Failure::new(Kind::Input, message).hint(&output::install(package)))
        }
    }
}

fn verdict(status: &str) -> Verdict {
    const VERDICTS: [(&str, bool, &str); 7] = [
        ("BADSIG", false, "bad signature"),
        ("REVKEYSIG", false, "signature with a revoked key"),
        ("EXPKEYSIG", false, "signature with an expired key"),
        ("EXPSIG", false, "expired signature"),
        ("NO_PUBKEY", false, "signature with an unknown key"),
        ("ERRSIG", false, "signature that cannot be checked"),
        ("GOODSIG", true, "good signature"),
    ];
    let lines = || {
        status
            .lines()
            .filter_map(|line| line.strip_prefix("[GNUPG:] "))
    };
    const TRUSTED: [&str; 3] = ["TRUST_MARGINAL", "TRUST_FULLY", "TRUST_ULTIMATE"];
    let mut words = lines().filter_map(|line| line.split(' ').next());
    let is_certified = words.any(|word| TRUSTED.contains(&word));
    for (name, is_good, text) in VERDICTS {
        for line in lines() {
            let Some((_, rest)) = line.split_once(' ').filter(|(word, _)| *word == name) else {
                continue;
            };
            let signer = match rest.split_once(' ') {
                Some((_, signer)) if name != "ERRSIG" => signer,
                _ => rest.split(' ').next().unwrap_or_default(),
            };
            return Verdict {
                is_good,
                text,
                signer: signer.to_owned(),
                is_certified,
            };
        }
    }
    Verdict {
        is_good: false,
        text: "signature that cannot be read",
        signer: String::new(),
        is_certified: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bad_signature_spoils_all() {
        let good = "[GNUPG:] NEWSIG\n[GNUPG:] GOODSIG 0123456789ABCDEF Ann <a@x.org>\n\
                    [GNUPG:] VALIDSIG 00 2025-03-03\n";
        let found = verdict(good);
        assert!(found.is_good && !found.is_certified);
        assert!(verdict(&format!("{good}[GNUPG:] TRUST_FULLY 0 pgp\n")).is_certified);
        assert_eq!(found.signer, "Ann <a@x.org>");
        let both = format!("{good}[GNUPG:] BADSIG 01 Bob <b@x.org>\n");
        assert_eq!(
            (verdict(&both).is_good, &*verdict(&both).signer),
            (false, "Bob <b@x.org>")
        );
        let unknown = verdict("[GNUPG:] ERRSIG 0123 1 8 00 1 9\n[GNUPG:] NO_PUBKEY 0123\n");
        assert_eq!(
            (unknown.is_good, unknown.text),
            (false, "signature with an unknown key")
        );
        assert_eq!(unknown.signer, "0123");
        assert!(!verdict("").is_good);
    }
}
