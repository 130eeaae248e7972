//! Who computes together: the ranks of an MPI job, or one process alone.
//!
//! Everything that crosses ranks goes through [`World`]. All its operations are collective: every
//! rank calls them, in the same order. What may fail on one rank only goes through [`World::agree`]
//! before the next collective, so that no rank waits for one that has given up.

mod finalize_timeout;
mod messages;
mod node;
#[cfg(feature = "mpi")]
mod ranks;
mod stall_watchdog;

use std::process::ExitCode;

pub use node::Nodes;

use crate::cleanup::remove_temp_files;
use crate::error::{Error, ExitStatus, Result};
use crate::fault;

/// Numbers that can travel between ranks.
#[cfg(feature = "mpi")]
pub trait Element: Copy + Default + mpi::traits::Equivalence {}
#[cfg(feature = "mpi")]
impl<T: Copy + Default + mpi::traits::Equivalence> Element for T {}
/// Numbers that can travel between ranks.
#[cfg(not(feature = "mpi"))]
pub trait Element: Copy + Default {}
#[cfg(not(feature = "mpi"))]
impl<T: Copy + Default> Element for T {}

enum Backend {
    Alone,
    #[cfg(feature = "mpi")]
    Ranks(ranks::Ranks),
}

/// The job this process belongs to.
pub struct World {
    backend: Backend,
}

/// Elements in one MPI call. Counts are `c_int` there, and a reduction needs a second buffer of
/// this size, so a piece is far smaller than 2^31 - 1.
#[cfg(feature = "mpi")]
const PIECE: usize = 1 << 22;

impl World {
    /// Joins the MPI job that a launcher started, or stays alone when no launcher did: a plain
    /// `macrok fit` neither waits for `MPI_Init` nor needs what it looks for (ssh, for instance).
    pub fn start() -> Result<World> {
        #[cfg(feature = "mpi")]
        if ranks::launched() {
            return Ok(World { backend: Backend::Ranks(ranks::Ranks::join()?) });
        }
        Ok(World::alone())
    }

    pub fn alone() -> World {
        World { backend: Backend::Alone }
    }

    pub fn rank(&self) -> usize {
        match &self.backend {
            Backend::Alone => 0,
            #[cfg(feature = "mpi")]
            Backend::Ranks(ranks) => ranks.rank(),
        }
    }

    pub fn size(&self) -> usize {
        match &self.backend {
            Backend::Alone => 1,
            #[cfg(feature = "mpi")]
            Backend::Ranks(ranks) => ranks.size(),
        }
    }

    pub fn is_root(&self) -> bool {
        self.rank() == 0
    }

    /// Adds `values` over all ranks; every rank gets the sum. Integers only, so the order in which
    /// ranks are added changes nothing. Fixed-point sums are integers too.
    ///
    /// No sum is above `most`: what travels is the smallest type that holds that.
    pub fn sum(&self, values: &mut [u64], most: u64) {
        match &self.backend {
            Backend::Alone => (),
            #[cfg(feature = "mpi")]
            Backend::Ranks(ranks) => ranks.sum(values, most, PIECE),
        }
        #[cfg(not(feature = "mpi"))]
        let _ = (values, most);
    }

    /// Adds numbers over all ranks, in the order of the ranks; every rank gets the sums, and they have the same bits on all of
    /// them whenever the number of ranks is the same. `space` is used again by the next call.
    pub fn sum_f32_in_rank_order(&self, values: &mut [f32], space: &mut Vec<f32>) {
        match &self.backend {
            Backend::Alone => (),
            #[cfg(feature = "mpi")]
            Backend::Ranks(ranks) => ranks.sum_f32_in_rank_order(values, space, PIECE),
        }
        #[cfg(not(feature = "mpi"))]
        let _ = (values, space);
    }

    /// One number of each rank, added up in the order of the ranks; the same on every rank.
    pub fn sum_f64(&self, value: f64) -> f64 {
        self.gather_to_all(value.to_bits()).into_iter().map(f64::from_bits).sum()
    }

    /// The bits that any rank has, on every rank.
    pub fn bitwise_or(&self, bits: &mut [u64]) {
        match &self.backend {
            Backend::Alone => (),
            #[cfg(feature = "mpi")]
            Backend::Ranks(ranks) => ranks.bitwise_or(bits, PIECE),
        }
        #[cfg(not(feature = "mpi"))]
        let _ = bits;
    }

    /// The largest of each value over all ranks. For timings and sizes, where it is exact.
    pub fn max(&self, values: &mut [f64]) {
        match &self.backend {
            Backend::Alone => (),
            #[cfg(feature = "mpi")]
            Backend::Ranks(ranks) => ranks.max(values),
        }
        #[cfg(not(feature = "mpi"))]
        let _ = values;
    }

    /// Rank 0's `values`, length included, on every rank.
    pub fn broadcast<T: Element>(&self, values: &mut Vec<T>) {
        match &self.backend {
            Backend::Alone => (),
            #[cfg(feature = "mpi")]
            Backend::Ranks(ranks) => ranks.broadcast(values, PIECE),
        }
        #[cfg(not(feature = "mpi"))]
        let _ = values;
    }

    /// Every rank's `values` on rank 0, in rank order; `None` elsewhere.
    pub fn gather<T: Element>(&self, values: &[T]) -> Option<Vec<Vec<T>>> {
        match &self.backend {
            Backend::Alone => Some(vec![values.to_vec()]),
            #[cfg(feature = "mpi")]
            Backend::Ranks(ranks) => ranks.gather(values, PIECE),
        }
    }

    /// One number of each rank, on every rank, in rank order.
    pub fn gather_to_all(&self, value: u64) -> Vec<u64> {
        let mut values: Vec<u64> = self.gather(&[value]).unwrap_or_default().into_iter().flatten().collect();
        self.broadcast(&mut values);
        values
    }

    /// Lets every rank know whether all succeeded. When some did not, every rank gets the same
    /// error: the message of the first failing rank.
    pub fn agree<T>(&self, outcome: Result<T>) -> Result<T> {
        match &self.backend {
            Backend::Alone => outcome,
            #[cfg(feature = "mpi")]
            Backend::Ranks(_) => {
                let failed = u64::from(outcome.is_err());
                let first = self.gather_to_all(failed).iter().position(|&failed| failed == 1);
                let Some(first) = first else { return outcome };
                let (message, status) = match &outcome {
                    Err(error) => (error.to_string(), error.status()),
                    Ok(_) => (String::new(), ExitStatus::Failure),
                };
                // Through rank 0, which prints it and is the one that can broadcast.
                let messages = self.gather(message.as_bytes());
                let mut message = messages.map(|all| all[first].clone()).unwrap_or_default();
                self.broadcast(&mut message);
                let code = self.gather_to_all(status.code() as u64)[first];
                Err(Error::agreed(message, code))
            }
        }
    }

    /// Runs `work` on rank 0 only; all ranks learn whether it succeeded.
    pub fn on_root(&self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        self.agree(if self.is_root() { work() } else { Ok(()) })
    }

    /// Ends the job: the result of the whole program becomes the exit status.
    ///
    /// An error all ranks agreed on is printed once, by rank 0, and the job ends in order. One that
    /// only this rank knows of is printed here and ends every other rank by force, because those
    /// may be waiting for this one.
    pub fn finish(self, outcome: Result<()>) -> ExitCode {
        if self.is_root() {
            stall_watchdog::remove_alive_file();
        }
        let Err(error) = outcome else { return self.leave(0) };
        let status = error.status();
        let agreed = matches!(error, Error::Agreed { .. });
        let told_elsewhere = matches!(error, Error::ReportedElsewhere);
        if !told_elsewhere && (!agreed || self.is_root()) {
            // To stop when asked to is no error.
            let kind = if status == ExitStatus::Stopped { "" } else { "error: " };
            eprintln!("macrok: {kind}{error}");
        }
        if !agreed {
            self.abort(status);
        }
        self.leave(status.code())
    }

    /// Leaves the job, when nobody has anything left to do: a launcher may end it as soon as one rank leaves with an
    /// error, and before that the message must be out. Collective.
    fn leave(self, code: i32) -> ExitCode {
        self.gather_to_all(0);
        if self.size() > 1 {
            finalize_timeout::exit_after(finalize_timeout::LIMIT, code);
            let _ = fault::inject(self.rank(), "leave");
        }
        ExitCode::from(code as u8)
    }

    /// Ends every rank of the job at once. Alone it returns, and the caller ends the process.
    fn abort(&self, status: ExitStatus) {
        remove_temp_files();
        match &self.backend {
            Backend::Alone => (),
            #[cfg(feature = "mpi")]
            Backend::Ranks(_) => ranks::abort(status.code()),
        }
        #[cfg(not(feature = "mpi"))]
        let _ = status;
    }

    /// From now on a panic on any thread of this rank prints one message and ends the whole job:
    /// left alone, the other ranks would wait for this one for ever.
    pub fn end_job_on_panic(&self) {
        let rank = self.rank();
        let many = self.size() > 1;
        std::panic::set_hook(Box::new(move |panic| {
            let place = panic.location().map(|at| format!(" at {}:{}", at.file(), at.line()));
            let payload = panic.payload();
            let text = payload.downcast_ref::<&str>().copied();
            let what = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            let what = what.unwrap_or("a panic without a message");
            let who = if many { format!(" on rank {rank}") } else { String::new() };
            eprintln!(
                "macrok: internal error{who}{}: {what}; this is a defect of macrok, please report it",
                place.unwrap_or_default()
            );
            remove_temp_files();
            #[cfg(feature = "mpi")]
            if many {
                ranks::abort(ExitStatus::Failure.code());
            }
            std::process::exit(ExitStatus::Failure.code());
        }));
    }
}

/// The version of the MPI standard that the library in use follows; `None` when built without MPI.
pub fn mpi_standard() -> Option<(i32, i32)> {
    #[cfg(feature = "mpi")]
    return Some(mpi::environment::version());
    #[cfg(not(feature = "mpi"))]
    None
}

/// The MPI library in use, for humans.
pub fn mpi_library() -> String {
    #[cfg(feature = "mpi")]
    return ranks::mpi_library();
    #[cfg(not(feature = "mpi"))]
    "built without MPI".into()
}
