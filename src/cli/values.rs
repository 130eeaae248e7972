//! Values of options: parsers whose errors state the values that are allowed.

use std::fmt::Display;
use std::ops::{Bound, RangeBounds};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::builder::{PathBufValueParser, TypedValueParser};

/// The values an option allows, as the end of a message: "--batch is 0, but must be ...".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be {0}")]
pub(super) struct MustBe(pub String);

/// A type of numbers that options have.
pub(super) trait Number: FromStr + PartialOrd + Display + Copy + Send + Sync + 'static {
    const KIND: &'static str;
}

macro_rules! numbers {
    ($kind:literal: $($number:ty),*) => { $(impl Number for $number { const KIND: &'static str = $kind; })* };
}
numbers!("a whole number": u32, u64, usize);
numbers!("a number": f32, f64);

/// Returns a parser of the numbers in `range`.
pub(super) fn within<T: Number>(
    range: impl RangeBounds<T>,
) -> impl Fn(&str) -> Result<T, MustBe> + Clone + Send + Sync + 'static {
    let range = (range.start_bound().cloned(), range.end_bound().cloned());
    move |text| match text.parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(MustBe(format!("{}{}", T::KIND, range_text(range)))),
    }
}

/// Returns a parser of finite numbers above 0.
pub(super) fn positive() -> impl Fn(&str) -> Result<f64, MustBe> + Clone + Send + Sync + 'static {
    within((Bound::Excluded(0.0), Bound::Excluded(f64::INFINITY)))
}

/// Returns a parser of numbers above 0 and at most `most`.
pub(super) fn above_0_to(most: f64) -> impl Fn(&str) -> Result<f64, MustBe> + Clone + Send + Sync + 'static {
    within((Bound::Excluded(0.0), Bound::Included(most)))
}

fn range_text<T: Display>(range: (Bound<T>, Bound<T>)) -> String {
    let high = match &range.1 {
        Bound::Unbounded => String::new(),
        Bound::Included(high) => format!(" and at most {high}"),
        Bound::Excluded(high) if high.to_string() == "inf" => " and finite".into(),
        Bound::Excluded(high) => format!(" and below {high}"),
    };
    match (range.0, range.1) {
        (Bound::Included(low), Bound::Included(high)) => format!(" from {low} to {high}"),
        (Bound::Included(low), _) => format!(" of at least {low}{high}"),
        (Bound::Excluded(low), _) => format!(" above {low}{high}"),
        (Bound::Unbounded, _) => high,
    }
}

/// The formats of output files and their extensions. A further format is a line here.
const OUTPUT_FORMATS: [(&str, &[&str]); 1] = [("HDF5", &["h5", "hdf5", "h5ad"])];

/// Extensions that promise another format, unless it is one of [`OUTPUT_FORMATS`].
const FOREIGN: [&str; 24] = [
    "7z", "arff", "arrow", "bz2", "csv", "feather", "gz", "htm", "html", "json", "jsonl", "md", "npy", "npz",
    "parquet", "pickle", "pkl", "svm", "toml", "tsv", "txt", "xml", "xz", "zip",
];

/// Returns a parser of the names of output files: no pipe, and no extension of a format that is not written.
pub(super) fn output_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match foreign_name(&path) {
        None => Ok(path),
        Some(reason) => Err(MustBe(reason)),
    })
}

/// Returns the end of the message about a name that cannot be written to, or `None` if it can.
fn foreign_name(path: &Path) -> Option<String> {
    let formats: Vec<String> =
        OUTPUT_FORMATS.iter().map(|(name, extensions)| format!("{name} (.{})", extensions[0])).collect();
    let formats = formats.join(" or ");
    if path.as_os_str() == "-" {
        return Some(format!("a file, because {formats} cannot be written to a pipe"));
    }
    let extension = path.extension()?.to_string_lossy().to_lowercase();
    let right = path.with_extension(OUTPUT_FORMATS[0].1[0]);
    let is_output = OUTPUT_FORMATS.iter().any(|(_, extensions)| extensions.contains(&extension.as_str()));
    (!is_output && FOREIGN.contains(&extension.as_str()))
        .then(|| format!("a file in a format that macrok writes: {formats}, such as {}", right.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused<T: Number>(parser: impl Fn(&str) -> Result<T, MustBe>, text: &str) -> String {
        parser(text).map(|number| number.to_string()).unwrap_err().to_string()
    }

    #[test]
    fn numbers_in_the_range_are_accepted() {
        assert_eq!(within(1..=8000usize)("8000"), Ok(8000));
        assert_eq!(within(0.0..=0.9)("0"), Ok(0.0));
        assert_eq!(positive()("1e-300"), Ok(1e-300));
    }

    #[test]
    fn other_values_are_refused_with_the_range() {
        for text in ["three", "-3", "0", "8001", "1.5", "", "99999999999999999999"] {
            assert_eq!(refused(within(1..=8000usize), text), "must be a whole number from 1 to 8000");
        }
        for text in ["-1", "x", "inf", "NaN", "0"] {
            assert_eq!(refused(positive(), text), "must be a number above 0 and finite");
        }
        assert_eq!(refused(within(1u64..), "0"), "must be a whole number of at least 1");
        assert_eq!(refused(above_0_to(4.0), "5"), "must be a number above 0 and at most 4");
        assert_eq!(refused(within(0.0..f64::INFINITY), "-1"), "must be a number of at least 0 and finite");
    }

    #[test]
    fn a_name_that_promises_another_format_is_refused() {
        for name in ["-", "pred.txt", "pred.CSV", "out/pred.npz"] {
            assert!(foreign_name(Path::new(name)).is_some(), "{name}");
        }
        for name in ["pred.h5", "tree.model", "plain", "v1.2", "txt"] {
            assert_eq!(foreign_name(Path::new(name)), None, "{name}");
        }
        let reason = foreign_name(Path::new("a/pred.txt")).unwrap();
        assert!(reason.contains("HDF5 (.h5)") && reason.ends_with("such as a/pred.h5"), "{reason}");
    }
}
