//! Values and gradients of metrics at a confusion tensor: labels per second.

#[allow(dead_code)]
mod made;

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use macrok::measure::Metric;

const METRICS: [&str; 5] = [
    "macro-recall",
    "macro-f1",
    "macro-gmean",
    "hmean(macro-precision, macro-recall)",
    "0.3*instance-precision + 0.7*macro-f1",
];

fn formulas(criterion: &mut Criterion) {
    let labels = if made::quick() { 100 } else { 100_000 };
    let (tensor, _) = made::tensors::pair(labels);
    let mut group = criterion.benchmark_group("formulas");
    group.sample_size(20).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    group.throughput(Throughput::Elements(labels as u64));
    for metric in METRICS {
        let objective = Metric::parse(metric).expect("a known metric").bind(5, 1e-9);
        group.bench_function(BenchmarkId::new("value", metric), |bencher| {
            bencher.iter(|| objective.value(&tensor));
        });
        group.bench_function(BenchmarkId::new("gradient", metric), |bencher| {
            bencher.iter(|| objective.gradient(&tensor));
        });
    }
    group.finish();
}

criterion_group!(benches, formulas);
criterion_main!(benches);
