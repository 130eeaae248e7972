//! The MPI side of [`World`](super::World). Only the main thread calls it, except for an abort.

use std::time::Duration;

use mpi::Threading;
use mpi::collective::SystemOperation;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Root, Source};

use super::Element;
use super::stall_watchdog::WaitingGuard;
use crate::error::{Error, Result};

pub(super) struct Ranks {
    communicator: SimpleCommunicator,
    // Dropped last: dropping it calls MPI_Finalize, which waits for all ranks.
    _universe: Universe,
}

pub(super) fn mpi_library() -> String {
    let text = mpi::environment::library_version().unwrap_or_default();
    text.lines().next().unwrap_or("unknown MPI").trim_end_matches('\0').trim().to_owned()
}

/// Time for the launcher to forward a message printed just before an abort. That of MPICH discards output it has not read.
const FORWARDING_TIME: Duration = Duration::from_millis(200);

/// Ends all ranks. The reason has been printed.
pub(super) fn abort(code: i32) -> ! {
    std::thread::sleep(FORWARDING_TIME);
    SimpleCommunicator::world().abort(code)
}

impl Ranks {
    pub(super) fn join() -> Result<Ranks> {
        let (universe, granted) = mpi::initialize_with_threading(Threading::Funneled)
            .ok_or_else(|| Error::Usage("MPI was initialised before macrok started".into()))?;
        if granted < Threading::Funneled {
            return Err(Error::Usage(format!(
                "this MPI library grants thread level {granted:?}, but macrok needs Funneled; \
                 use an MPI built with thread support"
            )));
        }
        Ok(Ranks { communicator: universe.world(), _universe: universe })
    }

    pub(super) fn rank(&self) -> usize {
        self.communicator.rank() as usize
    }

    pub(super) fn size(&self) -> usize {
        self.communicator.size() as usize
    }

    pub(super) fn sum(&self, values: &mut [u64], most: u64, piece: usize) {
        if most <= u16::MAX.into() {
            self.sum_as(values, piece, |value| value as u16);
        } else if most <= u32::MAX.into() {
            self.sum_as(values, piece, |value| value as u32);
        } else {
            self.reduce(values, piece, SystemOperation::sum());
        }
    }

    /// Adds values in a smaller type that holds every sum.
    fn sum_as<T: Element + Into<u64>>(&self, values: &mut [u64], piece: usize, small: fn(u64) -> T) {
        for part in values.chunks_mut(piece) {
            let mut packed: Vec<T> = part.iter().map(|&value| small(value)).collect();
            self.reduce(&mut packed, piece, SystemOperation::sum());
            part.iter_mut().zip(packed).for_each(|(value, sum)| *value = sum.into());
        }
    }

    /// Each rank adds one part of the numbers of all ranks, in the order of the ranks, and sends the sums to all.
    pub(super) fn sum_f32_in_rank_order(&self, values: &mut [f32], space: &mut Vec<f32>, piece: usize) {
        let _waiting = WaitingGuard::begin();
        let ranks = self.size();
        for values in values.chunks_mut(piece) {
            // All parts have the same length, the last one with padding.
            let part = values.len().div_ceil(ranks);
            space.clear();
            space.extend_from_slice(values);
            space.resize(2 * ranks * part + part, 0.0);
            let (sent, rest) = space.split_at_mut(ranks * part);
            let (received, sums) = rest.split_at_mut(ranks * part);
            self.communicator.all_to_all_into(&*sent, received);
            for theirs in received.chunks_exact(part) {
                sums.iter_mut().zip(theirs).for_each(|(sum, value)| *sum += value);
            }
            self.communicator.all_gather_into(&*sums, sent);
            values.copy_from_slice(&sent[..values.len()]);
        }
    }

    pub(super) fn bitwise_or(&self, bits: &mut [u64], piece: usize) {
        self.reduce(bits, piece, SystemOperation::bitwise_or());
    }

    /// Returns the first of the ranks that can share memory with this one.
    pub(super) fn first_on_node(&self) -> usize {
        let _waiting = WaitingGuard::begin();
        // The key keeps the order of ranks, so the first is the smallest.
        let node = self.communicator.split_shared(self.communicator.rank());
        let mut first = self.rank() as u64;
        node.process_at_rank(0).broadcast_into(&mut first);
        first as usize
    }

    pub(super) fn max(&self, values: &mut [f64]) {
        self.reduce(values, values.len().max(1), SystemOperation::max());
    }

    fn reduce<T: Element>(&self, values: &mut [T], piece: usize, operation: SystemOperation) {
        let _waiting = WaitingGuard::begin();
        let mut total = vec![T::default(); values.len().min(piece)];
        for part in values.chunks_mut(piece) {
            let total = &mut total[..part.len()];
            self.communicator.all_reduce_into(&*part, total, operation);
            part.copy_from_slice(total);
        }
    }

    pub(super) fn broadcast<T: Element>(&self, values: &mut Vec<T>, piece: usize) {
        let _waiting = WaitingGuard::begin();
        let root = self.communicator.process_at_rank(0);
        let mut length = values.len() as u64;
        root.broadcast_into(&mut length);
        values.resize(length as usize, T::default());
        for part in values.chunks_mut(piece) {
            root.broadcast_into(part);
        }
    }

    /// Gathers point to point, in pieces: the collective form counts the whole result in a `c_int`.
    pub(super) fn gather<T: Element>(&self, values: &[T], piece: usize) -> Option<Vec<Vec<T>>> {
        let _waiting = WaitingGuard::begin();
        if self.rank() != 0 {
            let root = self.communicator.process_at_rank(0);
            root.send(&(values.len() as u64));
            values.chunks(piece).for_each(|part| root.send(part));
            return None;
        }
        let mut all = vec![values.to_vec()];
        for rank in 1..self.communicator.size() {
            let source = self.communicator.process_at_rank(rank);
            let (length, _) = source.receive::<u64>();
            let mut received = vec![T::default(); length as usize];
            for part in received.chunks_mut(piece) {
                source.receive_into(part);
            }
            all.push(received);
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, because a process can initialise MPI once. It is a job of one rank.
    #[test]
    fn collectives_in_pieces_equal_those_in_one_piece() {
        let ranks = Ranks::join().unwrap();
        let mut values: Vec<u64> = (0..1000).collect();
        for most in [1000, 1 << 16, 1 << 40] {
            ranks.sum(&mut values, most, 7);
            assert_eq!(values, (0..1000).map(|v| v * ranks.size() as u64).collect::<Vec<_>>());
        }
        let mut large = [u64::from(u16::MAX), u64::from(u32::MAX), 1 << 40];
        for (at, most) in large.into_iter().enumerate() {
            ranks.sum(&mut large[at..=at], most, 7);
        }
        assert_eq!(large, [u64::from(u16::MAX), u64::from(u32::MAX), 1 << 40]);
        ranks.broadcast(&mut values, 13);
        assert_eq!(values.len(), 1000);
        let gathered = ranks.gather(&values, 3).unwrap();
        assert_eq!(gathered[0], values);
        let mut numbers: Vec<f32> = (0..1000).map(|number| number as f32 * 0.37).collect();
        let before = numbers.clone();
        ranks.sum_f32_in_rank_order(&mut numbers, &mut Vec::new(), 7);
        assert_eq!(numbers, before);
        let mut bits = [5, 0, u64::MAX];
        ranks.bitwise_or(&mut bits, 2);
        assert_eq!(bits, [5, 0, u64::MAX]);
        let mut largest = [f64::NEG_INFINITY, 2.5];
        ranks.max(&mut largest);
        assert_eq!(largest, [f64::NEG_INFINITY, 2.5]);
        assert_eq!(ranks.first_on_node(), 0);
    }
}
