//! Time limits in the format of Slurm.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The most time that a run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimit(pub Duration);

impl FromStr for TimeLimit {
    type Err = String;

    /// Parses `MINUTES`, `MINUTES:SECONDS`, `HOURS:MINUTES:SECONDS`, `DAYS-HOURS`, `DAYS-HOURS:MINUTES` or
    /// `DAYS-HOURS:MINUTES:SECONDS`, as in `sbatch --time`.
    fn from_str(text: &str) -> Result<TimeLimit, String> {
        let wrong = || format!("invalid time limit '{text}': expected HH:MM:SS, MM:SS, MM or D-HH:MM:SS");
        let number = |digits: &str| match digits.bytes().all(|digit| digit.is_ascii_digit()) {
            true => digits.parse::<u64>().map_err(|_| wrong()),
            false => Err(wrong()),
        };
        let (days, rest) = match text.split_once('-') {
            Some((days, rest)) => (Some(number(days)?), rest),
            None => (None, text),
        };
        let numbers = rest.split(':').map(number).collect::<Result<Vec<u64>, String>>()?;
        let (hours, minutes, seconds) = match (days, numbers.as_slice()) {
            (None, &[minutes]) => (0, minutes, 0),
            (None, &[minutes, seconds]) => (0, minutes, seconds),
            (Some(_), &[hours]) => (hours, 0, 0),
            (Some(_), &[hours, minutes]) => (hours, minutes, 0),
            (_, &[hours, minutes, seconds]) => (hours, minutes, seconds),
            _ => return Err(wrong()),
        };
        let parts = [(days.unwrap_or(0), 86_400), (hours, 3600), (minutes, 60), (seconds, 1)];
        let total =
            parts.iter().try_fold(0u64, |sum, (many, unit)| sum.checked_add(many.checked_mul(*unit)?));
        // More than a century is a typing error, and exceeds the range of the clock.
        match total.filter(|&total| total < 1 << 32) {
            Some(0) => Err(format!("invalid time limit '{text}': must be above 0")),
            Some(total) => Ok(TimeLimit(Duration::from_secs(total))),
            None => Err(wrong()),
        }
    }
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.0.as_secs();
        let (days, hours) = (total / 86_400, total / 3600 % 24);
        if days > 0 {
            write!(f, "{days}-")?;
        }
        write!(f, "{hours:02}:{:02}:{:02}", total / 60 % 60, total % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<u64> {
        text.parse().ok().map(|TimeLimit(time)| time.as_secs())
    }

    #[test]
    fn parses_every_format_of_slurm() {
        assert_eq!(seconds("90"), Some(90 * 60));
        assert_eq!(seconds("0:10"), Some(10));
        assert_eq!(seconds("1:02:03"), Some(3723));
        assert_eq!(seconds("00:00:08"), Some(8));
        assert_eq!(seconds("2-3"), Some(51 * 3600));
        assert_eq!(seconds("1-00:30"), Some(86_400 + 1800));
        assert_eq!(seconds("1-00:00:01"), Some(86_401));
    }

    #[test]
    fn refuses_other_text_and_lists_the_formats() {
        let most = u64::MAX.to_string();
        for text in ["", "x", "1:2:3:4", "-5", "1-", "1:-2", "1.5", "+5", "0", "00:00:00", "1 h", &most] {
            let refused = text.parse::<TimeLimit>().unwrap_err();
            assert!(refused.contains(text), "{refused}");
        }
        assert!("5h".parse::<TimeLimit>().unwrap_err().contains("HH:MM:SS"));
    }

    #[test]
    fn displays_what_it_parses() {
        for text in ["00:10:00", "23:59:59", "2-00:00:01"] {
            assert_eq!(text.parse::<TimeLimit>().unwrap().to_string(), text);
        }
    }
}
