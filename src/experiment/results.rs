//! The results of an experiment as JSON and CSV, without times and paths: two runs give the same bytes on any machine.

use serde_json::{Map, Value, json};

use super::{ClassifierSpec, Folder};
use crate::error::Result;
use crate::evaluate::Summary;
use crate::store::{Overwrite, write_text};

/// The results of all classifiers, in the order of the experiment.
#[derive(Clone, Debug, Default)]
pub struct Results {
    pub classifiers: Vec<ClassifierResult>,
    /// Metrics of the table, by name.
    pub columns: Vec<String>,
    /// The number of draws of each mean.
    pub draws: u32,
}

/// A classifier and its metrics.
#[derive(Clone, Debug)]
pub struct ClassifierResult {
    pub spec: ClassifierSpec,
    /// Results of making it: the values of [`CLASSIFIER_KEYS`], for a baseline only the rules.
    pub classifier: Map<String, Value>,
    /// Test rows and labels.
    pub shape: (u64, u64),
    pub metrics: Vec<(String, Summary)>,
}

const CLASSIFIER_KEYS: [&str; 5] = ["rules", "utility", "iterations", "passes", "stopped"];

impl ClassifierResult {
    /// Returns all values except the metrics, by name.
    fn properties(&self) -> Vec<(&'static str, Value)> {
        let (spec, fit) = (&self.spec, self.spec.fit());
        let mut properties = vec![
            ("k", json!(spec.k)),
            ("strategy", json!(spec.strategy())),
            ("metric", json!(fit.map(|fit| fit.metric.text()))),
            ("targets", json!(fit.map(|fit| fit.target.name()))),
            ("seed", json!(fit.and_then(|fit| fit.seed))),
        ];
        let value = |name: &str| self.classifier.get(name).cloned().unwrap_or_default();
        properties.extend(CLASSIFIER_KEYS.map(|name| (name, value(name))));
        properties
    }

    /// Returns mean and deviation of a metric; NaN if it has no value.
    pub fn value(&self, name: &str) -> Summary {
        let known = self.metrics.iter().find(|metric| metric.0 == name);
        known.map_or(Summary { mean: f64::NAN, std: f64::NAN }, |metric| metric.1.clone())
    }
}

impl Results {
    /// Returns the number of test rows and of labels.
    pub(super) fn shape(&self) -> (u64, u64) {
        self.classifiers.first().map_or((0, 0), |classifier| classifier.shape)
    }

    pub fn json(&self) -> Value {
        let classifier = |result: &ClassifierResult| {
            let metrics: Map<String, Value> =
                result.metrics.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            let properties = result.properties().into_iter().map(|(name, value)| (name.to_owned(), value));
            Value::from_iter(properties.chain([("metrics".to_owned(), metrics.into())]))
        };
        let (n, m) = self.shape();
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "n": n,
            "m": m,
            "repeats": self.draws,
            "columns": self.columns,
            "results": self.classifiers.iter().map(classifier).collect::<Vec<_>>(),
        })
    }

    /// Writes `results.json`, `results.csv` and `results.md`, each completely or not at all. For rank 0.
    pub fn write(&self, folder: &Folder) -> Result<()> {
        let texts = [("json", format!("{:#}\n", self.json())), ("csv", self.csv()), ("md", self.markdown())];
        for (ending, text) in texts {
            write_text(&folder.results_file(ending), Overwrite::Replace, &text)?;
        }
        Ok(())
    }

    /// Returns a header, and a line for each classifier with mean and deviation of every metric.
    pub fn csv(&self) -> String {
        let Some(first) = self.classifiers.first() else { return String::new() };
        let mut header: Vec<String> = first.properties().iter().map(|(name, _)| (*name).to_owned()).collect();
        header.extend(first.metrics.iter().flat_map(|(name, _)| [name.clone(), format!("{name} std")]));
        let mut text = csv_line(&header);
        for classifier in &self.classifiers {
            let mut cells: Vec<String> =
                classifier.properties().iter().map(|(_, value)| plain(value)).collect();
            for (name, _) in &first.metrics {
                let Summary { mean, std } = classifier.value(name);
                cells.extend([mean, std].map(|value| plain(&json!(value))));
            }
            text.push_str(&csv_line(&cells));
        }
        text
    }
}

/// Formats a value without quotes, and null as an empty text.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn csv_line(cells: &[String]) -> String {
    let quoted = |cell: &String| {
        let special = cell.contains([',', '"', '\n', '\r']);
        if special { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.clone() }
    };
    cells.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_commas_and_quotes_are_quoted() {
        let cells = ["hmean(a, b)", "say \"x\"", "plain"].map(str::to_owned);
        assert_eq!(csv_line(&cells), "\"hmean(a, b)\",\"say \"\"x\"\"\",plain\n");
    }
}
