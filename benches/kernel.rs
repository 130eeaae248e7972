//! The pass over rows that scores, picks k and counts: entries per second on one thread.

#[allow(dead_code)]
mod made;

use std::cell::LazyCell;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use macrok::classifier::{Candidates, Rule, count_predictions};
use macrok::measure::{ConfusionTensor, Metric};
use macrok::optimize::count_population;
use macrok::shard::Shard;
use macrok::world::World;
use made::files::{DataFile, Layout};

/// Far more than caches hold, so that a pass reads memory as it does in a fit.
const ENTRIES: u64 = 16 << 20;

fn shard(labels: u32, nnz: u32) -> Shard {
    let entries = if made::quick() { 10_000 } else { ENTRIES };
    DataFile::new(entries / u64::from(nnz), labels, nnz, Layout::Contiguous).load()
}

/// The rule of the first iteration of a fit, which weights labels unevenly, unlike top-k.
fn first_rule(shard: &Shard, k: usize) -> Rule {
    let population = count_population(&World::alone(), shard);
    let top = count_predictions(shard, &Rule::top_k(shard.labels()), k, Candidates::All);
    let objective = Metric::parse("macro-f1").expect("a known metric").bind(k, 1e-9);
    let gradient = objective.gradient(&ConfusionTensor::new(&top, &population)).expect("a finite gradient");
    Rule::affine(&gradient.slopes, &gradient.intercepts).order_without_positives(&population.positives)
}

fn kernel(criterion: &mut Criterion) {
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    let mut group = criterion.benchmark_group("kernel");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    for (labels, nnz, budgets) in [
        (1_000, 200, [5].as_slice()),
        (13_330, 50, &[5]),
        (13_330, 100, &[5]),
        (13_330, 200, &[1, 5, 20, 100]),
        (13_330, 400, &[5]),
        (1_000_000, 200, &[5]),
    ] {
        // Lazy, because a filter may skip all its benchmarks.
        let shard = LazyCell::new(|| shard(labels, nnz));
        for &k in budgets {
            let name = format!("{labels} labels, {nnz} a row");
            group.throughput(Throughput::Elements(ENTRIES / u64::from(nnz) * u64::from(nnz)));
            group.bench_function(BenchmarkId::new(name, format!("k {k}")), |bencher| {
                let rule = first_rule(&shard, k);
                let shard = &*shard;
                bencher.iter(|| alone.install(|| count_predictions(shard, &rule, k, Candidates::All)));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, kernel);
criterion_main!(benches);
