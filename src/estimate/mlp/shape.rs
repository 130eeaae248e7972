//! How large a network is, and where its numbers are: all in one list, so that they can be added up, saved and sent as one.

use std::ops::Range;

/// Units of each layer: features, hidden layers, labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkShape {
    pub features: usize,
    pub hidden: Vec<usize>,
    pub labels: usize,
}

/// Where a layer's numbers are in the list of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LayerLayout {
    pub inputs: usize,
    pub outputs: usize,
    /// The first layer has a row for each input, so that a sparse row reads whole rows; the others one for each output.
    pub weights: Range<usize>,
    pub biases: Range<usize>,
}

impl NetworkShape {
    /// The biases and the later layers come first, the large first matrix last: its end is far from everything else.
    pub(super) fn layer_layouts(&self) -> Vec<LayerLayout> {
        let mut units = vec![self.features];
        units.extend(&self.hidden);
        units.push(self.labels);
        let mut at = self.hidden[0];
        let mut layer_layouts =
            vec![LayerLayout { inputs: self.features, outputs: at, weights: 0..0, biases: 0..at }];
        for pair in units[1..].windows(2) {
            let weights = at..at + pair[0] * pair[1];
            let biases = weights.end..weights.end + pair[1];
            at = biases.end;
            layer_layouts.push(LayerLayout { inputs: pair[0], outputs: pair[1], weights, biases });
        }
        layer_layouts[0].weights = at..at + self.features * self.hidden[0];
        layer_layouts
    }

    /// Numbers in all.
    pub fn parameter_count(&self) -> usize {
        self.layer_layouts()[0].weights.end
    }

    /// `500-512-983`
    pub fn text(&self) -> String {
        let hidden: String = self.hidden.iter().map(|units| format!("-{units}")).collect();
        format!("{}{hidden}-{}", self.features, self.labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_one_place() {
        let shape = NetworkShape { features: 7, hidden: vec![3, 5, 2], labels: 4 };
        let mut seen = vec![0; shape.parameter_count()];
        for place in shape.layer_layouts() {
            assert_eq!(place.weights.len(), place.inputs * place.outputs);
            assert_eq!(place.biases.len(), place.outputs);
            place.weights.chain(place.biases).for_each(|at| seen[at] += 1);
        }
        assert_eq!(seen, vec![1; 7 * 3 + 3 + 3 * 5 + 5 + 5 * 2 + 2 + 2 * 4 + 4]);
        assert_eq!(shape.text(), "7-3-5-2-4");
    }
}
