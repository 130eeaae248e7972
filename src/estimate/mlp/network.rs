//! A network: its shape, its parameters, and its arrays in a model file.

use std::ops::Range;

use super::loss::Loss;
use crate::random::{Purpose, bits, uniform};
use crate::store::{ModelArray, ModelFile};

/// Number of units of each layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkShape {
    pub features: usize,
    pub hidden: Vec<usize>,
    pub labels: usize,
}

/// Location of a layer's parameters in the list of all parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LayerLayout {
    pub inputs: usize,
    pub outputs: usize,
    /// A matrix. The first layer has a row per input, so that a sparse instance reads whole rows; the others have a row
    /// per output.
    pub weights: Range<usize>,
    pub biases: Range<usize>,
}

impl NetworkShape {
    /// Returns the layouts in order of layers. The weights of the first layer are at the end of the parameters, so that
    /// a gradient can be cut off behind the rows that it has.
    pub(super) fn layouts(&self) -> Vec<LayerLayout> {
        let mut end = self.hidden[0];
        let mut layouts =
            vec![LayerLayout { inputs: self.features, outputs: end, weights: 0..0, biases: 0..end }];
        let units: Vec<usize> = self.hidden.iter().copied().chain([self.labels]).collect();
        for pair in units.windows(2) {
            let weights = end..end + pair[0] * pair[1];
            let biases = weights.end..weights.end + pair[1];
            end = biases.end;
            layouts.push(LayerLayout { inputs: pair[0], outputs: pair[1], weights, biases });
        }
        layouts[0].weights = end..end + self.features * self.hidden[0];
        layouts
    }

    pub fn parameter_count(&self) -> usize {
        self.layouts()[0].weights.end
    }

    /// `500-512-983`
    pub fn text(&self) -> String {
        let hidden: String = self.hidden.iter().map(|units| format!("-{units}")).collect();
        format!("{}{hidden}-{}", self.features, self.labels)
    }
}

/// A fully connected network with rectified hidden units and a logit for each label.
#[derive(Clone, Debug)]
pub struct Network {
    pub shape: NetworkShape,
    pub(super) layouts: Vec<LayerLayout>,
    pub(super) parameters: Vec<f32>,
}

impl Network {
    /// Draws weights uniformly within one over the square root of the layer's inputs. The biases of the labels start at
    /// the best constant prediction, given `positives` of `rows`.
    pub fn random(shape: NetworkShape, seed: u64, positives: &[u64], rows: u64, loss: Loss) -> Network {
        let layouts = shape.layouts();
        let mut parameters = vec![0.0; shape.parameter_count()];
        for (layer, layout) in layouts.iter().enumerate() {
            let bound = 1.0 / (layout.inputs as f64).sqrt();
            for (index, weight) in parameters[layout.weights.clone()].iter_mut().enumerate() {
                let draw = uniform(bits(seed, Purpose::NetworkWeight, layer as u32, index as u64));
                *weight = ((2.0 * draw - 1.0) * bound) as f32;
            }
        }
        let last = layouts[layouts.len() - 1].biases.clone();
        for (bias, &positive) in parameters[last].iter_mut().zip(positives) {
            let share = (positive as f64 + 0.5) / (rows as f64 + 1.0);
            *bias = loss.best_constant_logit(share);
        }
        Network { shape, layouts, parameters }
    }

    pub(super) fn weights(&self, layer: usize) -> &[f32] {
        &self.parameters[self.layouts[layer].weights.clone()]
    }

    pub(super) fn biases(&self, layer: usize) -> &[f32] {
        &self.parameters[self.layouts[layer].biases.clone()]
    }

    pub(super) fn layers(&self) -> usize {
        self.layouts.len()
    }

    /// Puts the layers into a model file: the matrix `network/0/weights` of inputs x outputs, the list
    /// `network/0/biases`, and so on. The input of a layer is `relu(x @ weights + biases)` of the one before; the
    /// sigmoids of the last layer's outputs are the marginals.
    pub fn put_into(self, file: &mut ModelFile) {
        for (layer, layout) in self.layouts.iter().enumerate() {
            let weights = match layer {
                0 => self.weights(0).to_vec(),
                _ => transpose(self.weights(layer), layout.outputs, layout.inputs),
            };
            let weights = ModelArray::from(weights).with_columns(layout.outputs);
            file.put(&format!("network/{layer}/weights"), weights);
            file.put(&format!("network/{layer}/biases"), self.biases(layer).to_vec());
        }
    }

    /// Removes the layers from a model file and checks them. The error is the reason why they are not a network.
    pub fn from_file(file: &mut ModelFile) -> Result<Network, String> {
        let mut layers = Vec::new();
        let mut inputs = file.features as usize;
        while let Some((shape, weights)) = take(file, &format!("network/{}/weights", layers.len()))? {
            let name = format!("network/{}/biases", layers.len());
            let (_, biases) = take(file, &name)?.ok_or_else(|| format!("the array '{name}' is missing"))?;
            if shape != [inputs, biases.len()] || biases.is_empty() {
                return Err(format!(
                    "'network/{}/weights' has the shape {shape:?}, but there are {inputs} inputs and {} biases",
                    layers.len(),
                    biases.len()
                ));
            }
            inputs = biases.len();
            layers.push((weights, biases));
        }
        if layers.len() < 2 {
            return Err(format!("it has {} layers, but a network has at least 2", layers.len()));
        }
        let labels = file.labels as usize;
        if inputs != labels {
            return Err(format!("its last layer has {inputs} outputs, but there are {labels} labels"));
        }
        let hidden: Vec<usize> = layers[..layers.len() - 1].iter().map(|layer| layer.1.len()).collect();
        let shape = NetworkShape { features: file.features as usize, hidden, labels };
        let mut parameters = vec![0.0; shape.parameter_count()];
        let layouts = shape.layouts();
        for (layer, (layout, (weights, biases))) in layouts.iter().zip(layers).enumerate() {
            let weights =
                if layer == 0 { weights } else { transpose(&weights, layout.inputs, layout.outputs) };
            parameters[layout.weights.clone()].copy_from_slice(&weights);
            parameters[layout.biases.clone()].copy_from_slice(&biases);
        }
        Ok(Network { shape, layouts, parameters })
    }
}

/// A shape and the numbers of an array.
type ShapedNumbers = (Vec<usize>, Vec<f32>);

/// Removes an array of finite numbers from a file; `None` if there is no such array.
fn take(file: &mut ModelFile, name: &str) -> Result<Option<ShapedNumbers>, String> {
    let Some(array) = file.take(name) else { return Ok(None) };
    let shape = array.shape.clone();
    match array.into_f32() {
        None => Err(format!("the array '{name}' does not have 32-bit floats")),
        Some(numbers) if numbers.iter().any(|number| !number.is_finite()) => {
            Err(format!("the array '{name}' has a number that is not finite"))
        }
        Some(numbers) => Ok(Some((shape, numbers))),
    }
}

fn transpose(numbers: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    (0..columns).flat_map(|column| (0..rows).map(move |row| numbers[row * columns + column])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_is_in_one_layer() {
        let shape = NetworkShape { features: 7, hidden: vec![3, 5, 2], labels: 4 };
        let mut seen = vec![0; shape.parameter_count()];
        for layout in shape.layouts() {
            assert_eq!(layout.weights.len(), layout.inputs * layout.outputs);
            assert_eq!(layout.biases.len(), layout.outputs);
            layout.weights.chain(layout.biases).for_each(|at| seen[at] += 1);
        }
        assert_eq!(seen, vec![1; 7 * 3 + 3 + 3 * 5 + 5 + 5 * 2 + 2 + 2 * 4 + 4]);
        assert_eq!(shape.text(), "7-3-5-2-4");
    }
}
