//! Reasons to stop a run early.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    Signal(i32),
    /// The time left is too short to continue.
    Time,
}

impl StopReason {
    /// Returns a number; ranks agree on the largest.
    pub(super) fn code(self) -> f64 {
        match self {
            StopReason::Signal(number) => number.into(),
            StopReason::Time => 1e6,
        }
    }

    pub(super) fn from_code(code: f64) -> Option<StopReason> {
        match code {
            0.0 => None,
            1e6 => Some(StopReason::Time),
            number => Some(StopReason::Signal(number as i32)),
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopReason::Signal(number) => match signal_hook::low_level::signal_name(*number) {
                Some(name) => f.write_str(name),
                None => write!(f, "signal {number}"),
            },
            StopReason::Time => f.write_str("the time is nearly up"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_reasons_correspond() {
        for reason in
            [StopReason::Signal(15), StopReason::Signal(1), StopReason::Signal(64), StopReason::Time]
        {
            assert_eq!(StopReason::from_code(reason.code()), Some(reason));
        }
        assert_eq!(StopReason::from_code(0.0), None);
    }

    #[test]
    fn names_signals() {
        assert_eq!(StopReason::Signal(15).to_string(), "SIGTERM");
    }
}
