//! Throughput of loading a shard from an HDF5 file in the page cache, in bytes of memory per second.

#[allow(dead_code)]
mod made;

use std::cell::LazyCell;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use made::files::{DataFile, Layout};

fn load(criterion: &mut Criterion) {
    let (rows, nnz) = (if made::quick() { 100 } else { 40_000 }, 200);
    let mut group = criterion.benchmark_group("load");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    // Columns and values; labels and row starts add a few percent.
    group.throughput(Throughput::Bytes(rows * nnz * 8));
    for (name, layout) in [("contiguous", Layout::Contiguous), ("gzip", Layout::Gzip)] {
        let file = LazyCell::new(|| DataFile::new(rows, 13_330, nnz as u32, layout));
        group.bench_function(name, |bencher| {
            let file = &*file;
            bencher.iter(|| file.load());
        });
    }
    group.finish();
}

criterion_group!(benches, load);
criterion_main!(benches);
