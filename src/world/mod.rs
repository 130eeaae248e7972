//! The ranks that compute together: those of an MPI job, or one process alone.
//!
//! Everything that crosses ranks goes through [`World`]. All its operations are collective: every rank calls them, in the
//! same order. Work that can fail on one rank only goes through [`World::agree`] before the next collective operation, so
//! that no rank waits for one that has returned.

mod finalize_timeout;
mod launcher_variables;
mod messages;
mod node;
#[cfg(feature = "mpi")]
mod ranks;
mod stall_watchdog;

use std::process::ExitCode;

pub use launcher_variables::{LauncherVariables, SLURM_JOB_ID};
pub use node::Nodes;

use crate::cleanup::remove_temp_files;
use crate::error::{Error, ExitStatus, Result};
use crate::fault;

/// Numbers that can be sent to other ranks.
#[cfg(feature = "mpi")]
pub trait Element: Copy + Default + mpi::traits::Equivalence {}
#[cfg(feature = "mpi")]
impl<T: Copy + Default + mpi::traits::Equivalence> Element for T {}
/// Numbers that can be sent to other ranks.
#[cfg(not(feature = "mpi"))]
pub trait Element: Copy + Default {}
#[cfg(not(feature = "mpi"))]
impl<T: Copy + Default> Element for T {}

/// The job this process belongs to.
pub struct World {
    /// `None` for a process alone.
    #[cfg(feature = "mpi")]
    ranks: Option<ranks::Ranks>,
}

/// Elements in one MPI call. Counts are `c_int` there, and a reduction needs a second buffer of this size, so it is far
/// smaller than 2^31 - 1.
#[cfg(feature = "mpi")]
const PIECE: usize = 1 << 22;

#[cfg_attr(not(feature = "mpi"), allow(unused_variables, clippy::ptr_arg))]
impl World {
    /// Joins the MPI job if a launcher started this process. Alone, `MPI_Init` is not called, so that nothing it needs
    /// (ssh, for instance) has to be present.
    pub fn start() -> Result<World> {
        #[cfg(feature = "mpi")]
        if LauncherVariables::any_of_mpi() {
            return Ok(World { ranks: Some(ranks::Ranks::join()?) });
        }
        Ok(World::alone())
    }

    pub fn alone() -> World {
        World {
            #[cfg(feature = "mpi")]
            ranks: None,
        }
    }

    pub fn rank(&self) -> usize {
        #[cfg(feature = "mpi")]
        if let Some(ranks) = &self.ranks {
            return ranks.rank();
        }
        0
    }

    pub fn size(&self) -> usize {
        #[cfg(feature = "mpi")]
        if let Some(ranks) = &self.ranks {
            return ranks.size();
        }
        1
    }

    pub fn is_root(&self) -> bool {
        self.rank() == 0
    }

    /// Adds `values` over all ranks; every rank gets the sums. They are integers, so the order of the ranks changes nothing.
    ///
    /// No sum may exceed `most`: the smallest type that holds it is sent.
    pub fn sum(&self, values: &mut [u64], most: u64) {
        #[cfg(feature = "mpi")]
        if let Some(ranks) = &self.ranks {
            ranks.sum(values, most, PIECE);
        }
    }

    /// Adds numbers in the order of the ranks; every rank gets the sums, with the same bits for the same number of ranks.
    /// `space` is a buffer to reuse.
    pub fn sum_f32_in_rank_order(&self, values: &mut [f32], space: &mut Vec<f32>) {
        #[cfg(feature = "mpi")]
        if let Some(ranks) = &self.ranks {
            ranks.sum_f32_in_rank_order(values, space, PIECE);
        }
    }

    /// Returns the sum of one number of each rank, added in the order of the ranks.
    pub fn sum_f64(&self, value: f64) -> f64 {
        self.gather_to_all(value.to_bits()).into_iter().map(f64::from_bits).sum()
    }

    /// Replaces `bits` by the bitwise or over all ranks.
    pub fn bitwise_or(&self, bits: &mut [u64]) {
        #[cfg(feature = "mpi")]
        if let Some(ranks) = &self.ranks {
            ranks.bitwise_or(bits, PIECE);
        }
    }

    /// Replaces each value by the largest over all ranks.
    pub fn max(&self, values: &mut [f64]) {
        #[cfg(feature = "mpi")]
        if let Some(ranks) = &self.ranks {
            ranks.max(values);
        }
    }

    /// Replaces `values` by those of rank 0, which may be more or fewer.
    pub fn broadcast<T: Element>(&self, values: &mut Vec<T>) {
        #[cfg(feature = "mpi")]
        if let Some(ranks) = &self.ranks {
            ranks.broadcast(values, PIECE);
        }
    }

    /// Returns the `values` of every rank on rank 0, in rank order; `None` elsewhere.
    pub fn gather<T: Element>(&self, values: &[T]) -> Option<Vec<Vec<T>>> {
        #[cfg(feature = "mpi")]
        if let Some(ranks) = &self.ranks {
            return ranks.gather(values, PIECE);
        }
        Some(vec![values.to_vec()])
    }

    /// Returns one number of each rank, on every rank, in rank order.
    pub fn gather_to_all(&self, value: u64) -> Vec<u64> {
        let mut values: Vec<u64> = self.gather(&[value]).unwrap_or_default().into_iter().flatten().collect();
        self.broadcast(&mut values);
        values
    }

    /// Returns the outcome if all ranks succeeded; otherwise every rank gets the error of the first that failed.
    pub fn agree<T, E: Into<Error>>(&self, outcome: Result<T, E>) -> Result<T> {
        let outcome = outcome.map_err(Into::into);
        #[cfg(feature = "mpi")]
        if self.ranks.is_some() {
            let failed = u64::from(outcome.is_err());
            let first = self.gather_to_all(failed).iter().position(|&failed| failed == 1);
            let Some(first) = first else { return outcome };
            let (message, status) = match &outcome {
                Err(error) => (error.to_string(), error.status()),
                Ok(_) => (String::new(), ExitStatus::Failure),
            };
            let messages = self.gather(message.as_bytes());
            let mut message = messages.map(|all| all[first].clone()).unwrap_or_default();
            self.broadcast(&mut message);
            let code = self.gather_to_all(status.code() as u64)[first];
            return Err(Error::agreed(message, code));
        }
        outcome
    }

    /// Runs `work` on rank 0 only; all ranks learn whether it succeeded.
    pub fn on_root(&self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        self.agree(if self.is_root() { work() } else { Ok(()) })
    }

    /// Ends the job: the result of the whole program becomes the exit status.
    ///
    /// Rank 0 prints an error that all ranks agreed on, and all ranks leave in order. An error of this rank only is printed
    /// here and aborts all other ranks, which may be waiting for this one.
    pub fn finish(self, outcome: Result<()>) -> ExitCode {
        if self.is_root() {
            stall_watchdog::remove_alive_file();
        }
        let Err(error) = outcome else { return self.leave(0) };
        let status = error.status();
        let agreed = matches!(error, Error::Agreed { .. });
        let reported_elsewhere = matches!(error, Error::ReportedElsewhere);
        if !reported_elsewhere && (!agreed || self.is_root()) {
            // A requested stop is not an error.
            let kind = if status == ExitStatus::Stopped { "" } else { "error: " };
            eprintln!("macrok: {kind}{error}");
        }
        if !agreed {
            self.abort(status);
        }
        self.leave(status.code())
    }

    /// Leaves the job once all ranks have finished: a launcher may end all of them as soon as one leaves with an error, and
    /// the message must be printed before. Collective.
    fn leave(self, code: i32) -> ExitCode {
        self.gather_to_all(0);
        if self.size() > 1 {
            finalize_timeout::exit_after(finalize_timeout::LIMIT, code);
            let _ = fault::inject(self.rank(), "leave");
        }
        ExitCode::from(code as u8)
    }

    /// Aborts all ranks of a job. Returns for a process alone.
    fn abort(&self, status: ExitStatus) {
        remove_temp_files();
        #[cfg(feature = "mpi")]
        if self.ranks.is_some() {
            ranks::abort(status.code());
        }
    }

    /// Makes a panic on any thread of this rank print one message and end the whole job, because other ranks would wait for
    /// this one.
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

/// Returns the version of the MPI standard that the library follows; `None` when built without MPI.
pub fn mpi_standard() -> Option<(i32, i32)> {
    #[cfg(feature = "mpi")]
    return Some(mpi::environment::version());
    #[cfg(not(feature = "mpi"))]
    None
}

/// Returns the name of the MPI library.
pub fn mpi_library() -> String {
    #[cfg(feature = "mpi")]
    return ranks::mpi_library();
    #[cfg(not(feature = "mpi"))]
    "built without MPI".into()
}
