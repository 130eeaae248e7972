//! A forest in a model file.

use super::forest::{Forest, NO_NODE};
use crate::store::{ModelArray, ModelFile};

impl Forest {
    /// Puts the arrays of the forest into `file`, in the group `forest`. The weights are a CSR matrix of nodes x features.
    pub fn put_into(self, file: &mut ModelFile) {
        let shape = vec![self.nodes() as u64, self.features as u64];
        file.put("forest/parents", self.parents);
        file.put("forest/leaf_labels", self.leaf_labels);
        file.put("forest/units", self.units);
        file.put("forest/biases", self.biases);
        file.put("forest/trees", vec![self.trees as u64]);
        file.put("forest/weights/shape", shape);
        file.put("forest/weights/indptr", self.starts);
        file.put("forest/weights/indices", self.columns);
        file.put("forest/weights/data", self.weights);
    }

    /// Takes them out again, checked: what this returns can be used without a further look. The error says what is wrong.
    pub fn from_file(file: &mut ModelFile) -> Result<Forest, String> {
        let missing = |name: &str| format!("it has no array 'forest/{name}' of the right type");
        let take = |file: &mut ModelFile, name: &str| file.take(&format!("forest/{name}"));
        let numbers = |file: &mut ModelFile, name: &str| {
            take(file, name).and_then(ModelArray::into_u32).ok_or_else(|| missing(name))
        };
        let places = |file: &mut ModelFile, name: &str| {
            take(file, name).and_then(ModelArray::into_u64).ok_or_else(|| missing(name))
        };
        let values = |file: &mut ModelFile, name: &str| {
            take(file, name).and_then(ModelArray::into_f32).ok_or_else(|| missing(name))
        };
        let forest = Forest {
            features: file.features as usize,
            labels: file.labels as usize,
            trees: places(file, "trees")?.first().map_or(0, |&trees| trees as usize),
            parents: numbers(file, "parents")?,
            leaf_labels: numbers(file, "leaf_labels")?,
            units: places(file, "units")?,
            biases: values(file, "biases")?,
            starts: places(file, "weights/indptr")?,
            columns: numbers(file, "weights/indices")?,
            weights: values(file, "weights/data")?,
        };
        forest.check()?;
        Ok(forest)
    }

    fn check(&self) -> Result<(), String> {
        let nodes = self.nodes();
        let of_nodes = [self.leaf_labels.len(), self.biases.len(), self.starts.len().saturating_sub(1)];
        if of_nodes.iter().any(|&length| length != nodes) || self.columns.len() != self.weights.len() {
            return Err("its arrays differ in length".into());
        }
        let divides = |places: &[u64], end: usize| {
            places.first() == Some(&0) && places.last() == Some(&(end as u64)) && places.is_sorted()
        };
        if !divides(&self.units, nodes) || !divides(&self.starts, self.weights.len()) {
            return Err("units or weights of its nodes overlap".into());
        }
        let roots = self.parents.iter().filter(|&&parent| parent == NO_NODE).count();
        let ordered = self.parents.iter().enumerate();
        if roots != self.trees
            || roots == 0
            || ordered.clone().any(|(node, &parent)| parent != NO_NODE && parent as usize >= node)
        {
            return Err("its nodes are not those of trees".into());
        }
        if self.leaf_labels.iter().any(|&label| label != NO_NODE && label as usize >= self.labels) {
            return Err("a leaf has a label that there is not".into());
        }
        if self.columns.iter().any(|&column| column as usize >= self.features) {
            return Err("a weight is for a feature that there is not".into());
        }
        if self.weights.iter().any(|weight| !weight.is_finite())
            || self.biases.iter().any(|bias| bias.is_nan())
        {
            return Err("a weight is not a finite number".into());
        }
        Ok(())
    }
}
