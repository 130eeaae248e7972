//! Time limits as Slurm writes them.

use std::fmt;
use std::str::FromStr;

/// A time limit of a job, in whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimit {
    seconds: u64,
}

/// Why a text is no time limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be minutes, hours:minutes:seconds or days-hours:minutes:seconds, and more than nothing")]
pub struct TimeError;

impl TimeLimit {
    pub const HOURS_2: TimeLimit = TimeLimit { seconds: 7200 };

    /// How long before the end a job should hear of it: two minutes, or a quarter of a short job.
    pub fn warning(self) -> u64 {
        (self.seconds / 4).min(120)
    }
}

impl FromStr for TimeLimit {
    type Err = TimeError;

    /// The forms that `sbatch --time` takes: `M`, `M:S`, `H:M:S`, `D-H`, `D-H:M` and `D-H:M:S`.
    fn from_str(text: &str) -> Result<TimeLimit, TimeError> {
        let (days, clock) = text.split_once('-').map_or((None, text), |(days, clock)| (Some(days), clock));
        let number = |digits: &str| match digits.bytes().all(|byte| byte.is_ascii_digit()) {
            true => digits.parse::<u64>().map_err(|_| TimeError),
            false => Err(TimeError),
        };
        let parts = clock.split(':').map(number).collect::<Result<Vec<u64>, TimeError>>()?;
        let units: &[u64] = match (days, parts.len()) {
            (None, 1 | 2) => &[60, 1],
            (None, 3) | (Some(_), 1..=3) => &[3600, 60, 1],
            _ => return Err(TimeError),
        };
        let mut seconds = days.map_or(Ok(0), number)?.checked_mul(86_400).ok_or(TimeError)?;
        for (part, unit) in parts.iter().zip(units) {
            seconds = part.checked_mul(*unit).and_then(|more| seconds.checked_add(more)).ok_or(TimeError)?;
        }
        if seconds == 0 { Err(TimeError) } else { Ok(TimeLimit { seconds }) }
    }
}

/// `2-03:04:05`, without the days where there are none.
impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, rest) = (self.seconds / 86_400, self.seconds % 86_400);
        if days > 0 {
            write!(f, "{days}-")?;
        }
        write!(f, "{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_slurm_is_read() {
        let forms = [
            ("90", "01:30:00"),
            ("1:30", "00:01:30"),
            ("2:00:00", "02:00:00"),
            ("1-12", "1-12:00:00"),
            ("1-1:05", "1-01:05:00"),
            ("2-03:04:05", "2-03:04:05"),
            ("100:00:00", "4-04:00:00"),
        ];
        for (typed, shown) in forms {
            assert_eq!(
                typed.parse::<TimeLimit>().map(|limit| limit.to_string()),
                Ok(shown.to_owned()),
                "{typed}"
            );
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in
            ["", "0", "0:00:00", "two", "1:2:3:4", "1-", "-1", "1-2-3", "+5", "1.5", "99999999999999999999"]
        {
            assert_eq!(text.parse::<TimeLimit>(), Err(TimeError), "{text}");
        }
    }

    #[test]
    fn a_short_job_is_warned_in_time_to_have_done_something() {
        for (text, seconds) in [("2:00:00", 120), ("4", 60), ("1", 15)] {
            assert_eq!(text.parse::<TimeLimit>().map(TimeLimit::warning), Ok(seconds));
        }
    }
}
