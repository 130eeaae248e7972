//! Why a run is to stop before it is done.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Signal(i32),
    /// There is not enough time left for more.
    Time,
}

impl Reason {
    /// Numbers that ranks can compare: the largest is what they agree on.
    pub(super) fn code(self) -> f64 {
        match self {
            Reason::Signal(number) => number.into(),
            Reason::Time => 1e6,
        }
    }

    pub(super) fn from_code(code: f64) -> Option<Reason> {
        match code {
            0.0 => None,
            1e6 => Some(Reason::Time),
            number => Some(Reason::Signal(number as i32)),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Signal(number) => match signal_hook::low_level::signal_name(*number) {
                Some(name) => f.write_str(name),
                None => write!(f, "signal {number}"),
            },
            Reason::Time => f.write_str("the time is nearly up"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_survive_being_numbers() {
        for reason in [Reason::Signal(15), Reason::Signal(1), Reason::Signal(64), Reason::Time] {
            assert_eq!(Reason::from_code(reason.code()), Some(reason));
        }
        assert_eq!(Reason::from_code(0.0), None);
    }

    #[test]
    fn signals_are_called_by_name() {
        assert_eq!(Reason::Signal(15).to_string(), "SIGTERM");
    }
}
