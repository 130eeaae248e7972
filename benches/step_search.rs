//! The search for the best step size: some sixty evaluations of the metric over all labels.

#[allow(dead_code)]
mod made;

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use macrok::measure::Metric;
use macrok::optimize::best_step;

fn step_search(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("step_search");
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    for metric in ["macro-f1", "hmean(macro-precision, macro-recall)"] {
        let objective = Metric::parse(metric).expect("a known metric").bind(5, 1e-9);
        for labels in [1_000, 13_330, 1_000_000] {
            let (from, to) = made::tensors::pair(if made::quick() { 100 } else { labels });
            group.throughput(Throughput::Elements(labels as u64));
            group.bench_function(BenchmarkId::new(metric, labels), |bencher| {
                bencher.iter(|| best_step(|size| objective.value_between(&from, &to, size)));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, step_search);
criterion_main!(benches);
