//! The table at the end of an experiment: for each budget, a row for each strategy and a column for each metric.

use super::results::{ClassifierResult, Results};
use crate::format::format_count;
use crate::report::Table;

/// The rows of one budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub k: usize,
    pub rows: Vec<ComparisonRow>,
}

/// A strategy, over all its seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonRow {
    pub strategy: &'static str,
    pub fitted_for: Option<String>,
    pub values: Vec<f64>,
    /// Whether no other row has a better value.
    pub best: Vec<bool>,
}

/// Metrics whose smallest value is the best.
const LOSSES: [&str; 1] = ["hamming"];

impl Results {
    pub fn comparisons(&self) -> Vec<Comparison> {
        let mut budgets: Vec<usize> = self.classifiers.iter().map(|result| result.spec.k).collect();
        budgets.dedup();
        budgets.into_iter().map(|k| self.comparison(k)).collect()
    }

    /// Groups the classifiers that differ in the seed only.
    pub(super) fn groups(&self) -> Vec<Vec<&ClassifierResult>> {
        let mut groups: Vec<Vec<&ClassifierResult>> = Vec::new();
        for result in &self.classifiers {
            match groups.iter_mut().find(|group| group_key(group[0]) == group_key(result)) {
                Some(group) => group.push(result),
                None => groups.push(vec![result]),
            }
        }
        groups
    }

    fn comparison(&self, k: usize) -> Comparison {
        let groups = self.groups().into_iter().filter(|group| group[0].spec.k == k);
        let row = |group: Vec<&ClassifierResult>| {
            let (_, strategy, fitted_for) = group_key(group[0]);
            let values = self.columns.iter().map(|name| mean(&group, name)).collect();
            ComparisonRow { strategy, fitted_for, values, best: Vec::new() }
        };
        let mut rows: Vec<ComparisonRow> = groups.map(row).collect();
        for (column, name) in self.columns.iter().enumerate() {
            let sign = if LOSSES.contains(&name.as_str()) { -1.0 } else { 1.0 };
            let best = rows.iter().map(|row| sign * row.values[column]).fold(f64::NEG_INFINITY, f64::max);
            rows.iter_mut().for_each(|row| row.best.push(sign * row.values[column] == best));
        }
        Comparison { k, rows }
    }

    /// Returns the tables as text.
    pub fn text(&self) -> String {
        let table = |comparison: &Comparison| {
            let mut columns = vec!["strategy".to_owned(), "fitted for".to_owned()];
            columns.extend(self.columns.iter().map(|name| format!(">{name}")));
            let mut table = Table::new(&columns);
            for row in &comparison.rows {
                table.row(row.cells(|value, best| format!("{value}{}", if best { "*" } else { " " })));
            }
            format!("k = {}\n{table}\n", comparison.k)
        };
        self.tables("*", table)
    }

    /// Returns the tables as Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let escaped = |cells: Vec<String>| line(cells.iter().map(|cell| cell.replace('|', "\\|")).collect());
        let table = |comparison: &Comparison| {
            let mut names = vec!["strategy".to_owned(), "fitted for".to_owned()];
            names.extend(self.columns.iter().cloned());
            let rule = (0..names.len()).map(|at| if at < 2 { "---" } else { "---:" }.to_owned()).collect();
            let mut text = format!("## k = {}\n\n{}{}", comparison.k, escaped(names), line(rule));
            for row in &comparison.rows {
                let cells = row.cells(|value, best| if best { format!("**{value}**") } else { value });
                text.push_str(&escaped(cells));
            }
            text
        };
        self.tables("bold", table)
    }

    /// Returns a caption and the tables of all budgets; `mark` is how they show the best values.
    fn tables(&self, mark: &str, table: impl Fn(&Comparison) -> String) -> String {
        let (n, m) = self.shape();
        let (n, m) = (format_count(n), format_count(m));
        let draws = match self.draws {
            1 => String::new(),
            draws => format!("; classifiers of several rules: mean of {draws} draws"),
        };
        let tables: Vec<String> = self.comparisons().iter().map(table).collect();
        let tables = tables.join("\n");
        format!("{n} test instances x {m} labels{draws}; {mark} marks the best of a column\n\n{tables}")
    }
}

impl ComparisonRow {
    fn cells(&self, shown: impl Fn(String, bool) -> String) -> Vec<String> {
        let mut cells = vec![self.strategy.to_owned(), self.fitted_for.clone().unwrap_or_default()];
        let values = self.values.iter().zip(&self.best);
        cells.extend(values.map(|(value, &best)| match value.is_nan() {
            true => shown("none".into(), false),
            false => shown(format!("{value:.4}"), best),
        }));
        cells
    }
}

/// Returns everything but the seed.
fn group_key(result: &ClassifierResult) -> (usize, &'static str, Option<String>) {
    let spec = &result.spec;
    (spec.k, spec.strategy(), spec.fit().map(|fit| fit.fitted_for()))
}

/// Returns the mean of a metric over the seeds.
pub(super) fn mean(group: &[&ClassifierResult], name: &str) -> f64 {
    group.iter().map(|result| result.value(name).mean).sum::<f64>() / group.len() as f64
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::classifier::BaselineStrategy;
    use crate::evaluate::Summary;
    use crate::experiment::FitTarget;
    use crate::experiment::classifier_spec::{ClassifierMethod, ClassifierSpec, FitSpec};
    use crate::measure::Metric;

    fn found(k: usize, method: ClassifierMethod, f1: f64, hamming: f64) -> ClassifierResult {
        let summary = |mean| Summary { mean, std: 0.0 };
        let metrics = vec![("macro-f1".to_owned(), summary(f1)), ("hamming".to_owned(), summary(hamming))];
        ClassifierResult {
            spec: ClassifierSpec { k, method },
            classifier: Map::new(),
            shape: (2000, 200),
            metrics,
        }
    }

    fn fitted(seed: u64) -> ClassifierMethod {
        let metric = Metric::parse("macro-f1").unwrap();
        ClassifierMethod::FrankWolfe(FitSpec { metric, target: FitTarget::Labels, seed: Some(seed) })
    }

    fn results() -> Results {
        let top = || ClassifierMethod::Baseline(BaselineStrategy::TopK);
        let found = vec![
            found(1, fitted(0), 0.5, 0.25),
            found(1, fitted(1), 0.25, 0.5),
            found(1, top(), 0.25, 0.125),
            found(3, top(), f64::NAN, 0.125),
        ];
        Results { classifiers: found, columns: vec!["macro-f1".into(), "hamming".into()], draws: 10 }
    }

    #[test]
    fn the_text_marks_the_best() {
        let expected = "\
2,000 test instances x 200 labels; classifiers of several rules: mean of 10 draws; * marks the best of a column

k = 1
strategy     fitted for  macro-f1  hamming
frank-wolfe  macro-f1     0.3750*  0.3750
top-k                     0.2500   0.1250*

k = 3
strategy  fitted for  macro-f1  hamming
top-k                    none   0.1250*
";
        assert_eq!(results().text(), expected);
    }

    #[test]
    fn compares_fits_with_the_best_baseline() {
        let expected = "\
Each on the metric it was fitted for
fitted for  k  fitted  best baseline
macro-f1    1  0.3750  0.2500 top-k
";
        assert_eq!(results().gains_text(), expected);
    }

    #[test]
    fn markdown_marks_the_best() {
        let expected = "\
2,000 test instances x 200 labels; classifiers of several rules: mean of 10 draws; bold marks the best of a column

## k = 1

| strategy | fitted for | macro-f1 | hamming |
| --- | --- | ---: | ---: |
| frank-wolfe | macro-f1 | **0.3750** | 0.3750 |
| top-k |  | 0.2500 | **0.1250** |
";
        assert!(results().markdown().starts_with(expected), "{}", results().markdown());
    }
}
