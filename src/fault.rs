//! Faults that tests inject; release builds have none.

use crate::error::Result;

/// Injects the faults of `MACROK_TEST_FAULT` at this place: a list of `KIND@PLACE:RANK` or, for the N-th visit of the place only,
/// `KIND@PLACE#N:RANK`. Kinds are `panic`, `fail` (an error that only this rank has), `kill`, `memory` (none is left), `hang` and
/// `sleep=MS`.
#[cfg(debug_assertions)]
pub fn inject(rank: usize, place: &str) -> Result<()> {
    requested::faults().iter().try_for_each(|fault| fault.inject(rank, place))
}

#[cfg(not(debug_assertions))]
#[inline]
pub fn inject(_: usize, _: &str) -> Result<()> {
    Ok(())
}

/// Returns whether a test needs every checkpoint on disk before the work continues.
pub fn waits_for_checkpoints() -> bool {
    cfg!(debug_assertions) && std::env::var_os("MACROK_TEST_FLUSH").is_some()
}

#[cfg(debug_assertions)]
mod requested {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use signal_hook::consts::SIGKILL;

    use crate::error::{Result, usage};

    pub(super) struct Fault {
        kind: String,
        place: String,
        number: Option<usize>,
        rank: usize,
        visits: AtomicUsize,
    }

    pub(super) fn faults() -> &'static [Fault] {
        static FAULTS: OnceLock<Vec<Fault>> = OnceLock::new();
        FAULTS.get_or_init(|| {
            let text = std::env::var("MACROK_TEST_FAULT").unwrap_or_default();
            let faults = text.split(',').filter(|fault| !fault.is_empty());
            faults.map(|fault| parse(fault).unwrap_or_else(|| panic!("MACROK_TEST_FAULT: {fault}"))).collect()
        })
    }

    fn parse(text: &str) -> Option<Fault> {
        let (kind, rest) = text.split_once('@')?;
        let (place, rank) = rest.split_once(':')?;
        let (place, number) = match place.split_once('#') {
            Some((place, number)) => (place, Some(number.parse().ok()?)),
            None => (place, None),
        };
        let (kind, place) = (kind.to_owned(), place.to_owned());
        Some(Fault { kind, place, number, rank: rank.parse().ok()?, visits: AtomicUsize::new(0) })
    }

    impl Fault {
        pub fn inject(&self, rank: usize, place: &str) -> Result<()> {
            if self.rank != rank || self.place != place {
                return Ok(());
            }
            let visits = self.visits.fetch_add(1, Ordering::Relaxed) + 1;
            if self.number.is_some_and(|number| number != visits) {
                return Ok(());
            }
            match self.kind.as_str() {
                "panic" => panic!("a test made rank {rank} panic at {place}"),
                "fail" => usage(format!("a test made rank {rank} fail at {place}")),
                "kill" => {
                    let _ = signal_hook::low_level::raise(SIGKILL);
                    Ok(())
                }
                "memory" => {
                    std::hint::black_box(Vec::<u8>::with_capacity(isize::MAX as usize / 2));
                    Ok(())
                }
                "hang" => {
                    eprintln!("a test made rank {rank} hang at {place}");
                    loop {
                        std::thread::sleep(Duration::from_secs(60));
                    }
                }
                kind => {
                    let milliseconds = kind.strip_prefix("sleep=").and_then(|text| text.parse().ok());
                    std::thread::sleep(Duration::from_millis(milliseconds.expect("a known fault")));
                    Ok(())
                }
            }
        }
    }
}
