//! A network in a model file.

use super::network::Network;
use super::shape::NetworkShape;
use crate::store::{ModelArray, ModelFile};

impl Network {
    /// Puts the layers into `file`: `network/0/weights` is a matrix of inputs x outputs, `network/0/biases` a list, and so on,
    /// so that `relu(x @ weights + biases)` is the next layer's x, and the sigmoid of the last one's are the marginals.
    pub fn put_into(self, file: &mut ModelFile) {
        for (layer, place) in self.layer_layouts.iter().enumerate() {
            let weights = self.weights(layer).to_vec();
            let weights = if layer == 0 { weights } else { turned(&weights, place.outputs, place.inputs) };
            file.put(
                &format!("network/{layer}/weights"),
                ModelArray::from(weights).with_columns(place.outputs),
            );
            file.put(&format!("network/{layer}/biases"), self.biases(layer).to_vec());
        }
    }

    /// Takes them out again, checked: what this returns can be used without a further look. The error says what is wrong.
    pub fn from_file(file: &mut ModelFile) -> Result<Network, String> {
        let (features, labels) = (file.features as usize, file.labels as usize);
        let count = (0..).take_while(|layer| has(file, &format!("network/{layer}/weights"))).count();
        if count < 2 {
            return Err(format!("it has {count} layers, but a network has at least 2"));
        }
        let mut take = |name: String| {
            let array = file.take(&name).ok_or_else(|| format!("it has no array '{name}'"))?;
            let shape = array.shape.clone();
            let numbers =
                array.into_f32().ok_or_else(|| format!("its array '{name}' is not of 32-bit floats"))?;
            if numbers.iter().all(|number| number.is_finite()) {
                Ok((shape, numbers))
            } else {
                Err(format!("'{name}' has a number that is not finite"))
            }
        };
        let mut layers = Vec::new();
        let mut inputs = features;
        for layer in 0..count {
            let (shape, weights) = take(format!("network/{layer}/weights"))?;
            let (_, biases) = take(format!("network/{layer}/biases"))?;
            let outputs = biases.len();
            if shape != [inputs, outputs] || outputs == 0 {
                return Err(format!(
                    "'network/{layer}/weights' has the shape {shape:?}, but must have {inputs} rows and a column for \
                     each of {outputs} biases"
                ));
            }
            layers.push((weights, biases));
            inputs = outputs;
        }
        if inputs != labels {
            return Err(format!("its last layer has {inputs} outputs, but it is for {labels} labels"));
        }
        let hidden: Vec<usize> = layers[..layers.len() - 1].iter().map(|layer| layer.1.len()).collect();
        let shape = NetworkShape { features, hidden, labels };
        let mut numbers = vec![0.0; shape.parameter_count()];
        for (layer, (place, (weights, biases))) in shape.layer_layouts().into_iter().zip(layers).enumerate() {
            let weights = if layer == 0 { weights } else { turned(&weights, place.inputs, place.outputs) };
            numbers[place.weights].copy_from_slice(&weights);
            numbers[place.biases].copy_from_slice(&biases);
        }
        Ok(Network::from_parameters(shape, numbers))
    }
}

fn has(file: &ModelFile, name: &str) -> bool {
    file.arrays().iter().any(|array| array.0 == name)
}

/// The rows of a matrix as columns.
fn turned(numbers: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    (0..columns).flat_map(|column| (0..rows).map(move |row| numbers[row * columns + column])).collect()
}
