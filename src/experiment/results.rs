//! What an experiment found, for programs: JSON and CSV without a time or a path in them, so that two runs of one
//! experiment give the same bytes, whatever they ran on.

use serde_json::{Map, Value, json};

use super::{ClassifierSpec, Folder};
use crate::error::Result;
use crate::evaluate::Summary;
use crate::store::{Overwrite, write_text};

/// Everything found, in the order of the experiment.
#[derive(Clone, Debug, Default)]
pub struct Results {
    pub classifiers: Vec<ClassifierResult>,
    /// What the table shows, by name.
    pub columns: Vec<String>,
    /// The number of draws that each mean is over.
    pub draws: u32,
}

/// One classifier and how good it is.
#[derive(Clone, Debug)]
pub struct ClassifierResult {
    pub spec: ClassifierSpec,
    /// How it was found: rules, and where it was fitted, utility, iterations and why the search ended.
    pub classifier: Map<String, Value>,
    /// Test rows and labels.
    pub shape: (u64, u64),
    pub metrics: Vec<(String, Summary)>,
}

/// What is said of a classifier, beside its metrics.
const CLASSIFIER_KEYS: [&str; 5] = ["rules", "utility", "iterations", "passes", "stopped"];

impl ClassifierResult {
    fn properties(&self) -> Vec<(&'static str, Value)> {
        let ClassifierSpec { k, .. } = self.spec;
        let mut facts = vec![
            ("k", json!(k)),
            ("strategy", json!(self.spec.strategy())),
            ("metric", json!(self.spec.metric())),
            ("targets", json!(self.spec.target().map(super::FitTarget::name))),
            ("seed", json!(self.spec.seed())),
        ];
        facts.extend(
            CLASSIFIER_KEYS.map(|name| (name, self.classifier.get(name).cloned().unwrap_or(Value::Null))),
        );
        facts
    }

    /// Mean and deviation of a metric; not a number where it has no value.
    pub fn value(&self, name: &str) -> Summary {
        let known = self.metrics.iter().find(|metric| metric.0 == name);
        known.map_or(Summary { mean: f64::NAN, std: f64::NAN }, |metric| metric.1.clone())
    }
}

impl Results {
    pub fn json(&self) -> Value {
        let one = |found: &ClassifierResult| {
            let mut facts: Map<String, Value> =
                found.properties().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            let metrics: Map<String, Value> =
                found.metrics.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            facts.insert("metrics".into(), metrics.into());
            Value::from(facts)
        };
        let (n, m) = self.classifiers.first().map_or((0, 0), |found| found.shape);
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "n": n,
            "m": m,
            "repeats": self.draws,
            "columns": self.columns,
            "results": self.classifiers.iter().map(one).collect::<Vec<_>>(),
        })
    }

    /// Writes `results.json`, `results.csv` and `results.md`, each whole or not at all. For rank 0.
    pub fn write(&self, folder: &Folder) -> Result<()> {
        let texts = [("json", format!("{:#}\n", self.json())), ("csv", self.csv()), ("md", self.markdown())];
        for (ending, text) in texts {
            write_text(&folder.results_file(ending), Overwrite::Replace, &text)?;
        }
        Ok(())
    }

    /// One line for each classifier, with the mean and the deviation of every metric.
    pub fn csv(&self) -> String {
        let Some(first) = self.classifiers.first() else { return String::new() };
        let mut header: Vec<String> = first.properties().iter().map(|fact| fact.0.to_owned()).collect();
        for (name, _) in &first.metrics {
            header.extend([name.clone(), format!("{name} std")]);
        }
        let mut text = csv_line(&header);
        for found in &self.classifiers {
            let mut cells: Vec<String> = found.properties().iter().map(|fact| plain(&fact.1)).collect();
            for (name, _) in &first.metrics {
                let Summary { mean, std } = found.value(name);
                cells.extend([mean, std].map(|value| plain(&json!(value))));
            }
            text.push_str(&csv_line(&cells));
        }
        text
    }
}

/// A value without quotes; nothing for nothing.
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
