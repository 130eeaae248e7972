//! The speed at which threads read memory.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

/// A measured bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Bandwidth {
    pub threads: usize,
    /// Bytes that all threads read in a round.
    pub bytes: u64,
    pub rounds: usize,
    /// In the fastest round; the others were disturbed.
    pub bytes_per_second: f64,
    /// In the slowest round.
    pub slowest_bytes_per_second: f64,
    /// From the start of the first round to the end of the last.
    pub seconds: f64,
}

/// Reads about `bytes` of memory with `threads` threads, `rounds` times. To measure memory and not caches, `bytes` should be
/// several times the largest cache.
///
/// `ready` is called between allocating and reading, so that processes can start to read at the same time. Like the threads of a fit, every thread reads memory that it has touched first: that of the nearest memory controller.
///
/// # Panics
/// If there are no threads or no rounds.
pub fn read_bandwidth(threads: usize, bytes: usize, rounds: usize, ready: impl FnOnce()) -> Bandwidth {
    assert!(threads > 0 && rounds > 0, "there are threads and rounds");
    let words = (bytes / threads / size_of::<u64>()).next_multiple_of(STREAMS * LANES);
    let barrier = Barrier::new(threads);
    let (filled, begin) = (Barrier::new(threads + 1), Barrier::new(threads + 1));
    let (begun, times): (Instant, Vec<Vec<(Instant, Instant)>>) = thread::scope(|scope| {
        let reader = || {
            // Zeros would be one shared page.
            let memory = vec![1u64; words];
            filled.wait();
            begin.wait();
            read(&memory, rounds, &barrier)
        };
        let readers: Vec<_> = (0..threads).map(|_| scope.spawn(reader)).collect();
        filled.wait();
        ready();
        let begun = Instant::now();
        begin.wait();
        let readers = readers.into_iter().map(|reader| reader.join().expect("a reader does not panic"));
        (begun, readers.collect())
    });
    // A round lasts from the start of the first thread to the end of the last.
    let seconds = (0..rounds).map(|round| {
        let of_round = || times.iter().map(|reader| reader[round]);
        let start = of_round().map(|(start, _)| start).min();
        let end = of_round().map(|(_, end)| end).max();
        start.zip(end).map_or(f64::NAN, |(start, end)| (end - start).as_secs_f64())
    });
    let (fastest, slowest) =
        seconds.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), s| (low.min(s), high.max(s)));
    let end = times.iter().flatten().map(|&(_, end)| end).max();
    let bytes = (words * threads * size_of::<u64>()) as u64;
    Bandwidth {
        threads,
        bytes,
        rounds,
        bytes_per_second: bytes as f64 / fastest,
        slowest_bytes_per_second: bytes as f64 / slowest,
        seconds: end.map_or(f64::NAN, |end| (end - begun).as_secs_f64()),
    }
}

/// Reads memory in one thread and returns the start and the end of each round.
fn read(memory: &[u64], rounds: usize, barrier: &Barrier) -> Vec<(Instant, Instant)> {
    let round = |_| {
        barrier.wait();
        let start = Instant::now();
        black_box(sum(black_box(memory)));
        (start, Instant::now())
    };
    (0..rounds).map(round).collect()
}

/// Places from which a thread reads in turn. The hardware prefetches for each of them: four were a third faster than one on
/// the test machine, eight no faster than four.
const STREAMS: usize = 4;
/// Independent sums, one cache line, so that additions do not wait for each other.
const LANES: usize = 8;

fn sum(words: &[u64]) -> u64 {
    let length = words.len() / STREAMS;
    let streams: [&[u64]; STREAMS] = std::array::from_fn(|stream| &words[stream * length..][..length]);
    let mut sums = [0u64; LANES];
    for line in 0..length / LANES {
        for stream in streams {
            for (sum, word) in sums.iter_mut().zip(&stream[line * LANES..][..LANES]) {
                *sum = sum.wrapping_add(*word);
            }
        }
    }
    sums.iter().fold(0, |total, sum| total.wrapping_add(*sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_word() {
        for words in [0, 1, 7].map(|lines| lines * STREAMS * LANES) {
            let values: Vec<u64> = (1..=words as u64).collect();
            assert_eq!(sum(&values), (words * (words + 1) / 2) as u64);
        }
    }

    #[test]
    fn calls_ready_once() {
        let mut waited = 0;
        let found = read_bandwidth(2, 1_000_000, 2, || waited += 1);
        assert_eq!(waited, 1);
        assert!(found.bytes_per_second > 0.0, "{found:?}");
    }

    #[test]
    fn reports_bytes_and_speed() {
        let found = read_bandwidth(3, 1_000_000, 2, || ());
        assert_eq!((found.threads, found.rounds), (3, 2));
        assert!((1_000_000 - 3 * 8..1_001_000).contains(&found.bytes), "{found:?}");
        // Both rounds and the time between them.
        assert!(found.seconds >= found.bytes as f64 / found.bytes_per_second, "{found:?}");
        assert!(found.slowest_bytes_per_second > 0.0 && found.bytes_per_second.is_finite(), "{found:?}");
    }
}
