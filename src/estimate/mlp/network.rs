//! A network: its shape and its parameters.

use super::loss::Loss;
use super::shape::{LayerLayout, NetworkShape};
use crate::random::{Purpose, bits, uniform};

/// A fully connected network with rectified hidden units; what it gives is a logit for each label.
#[derive(Clone, Debug)]
pub struct Network {
    pub shape: NetworkShape,
    pub(super) layer_layouts: Vec<LayerLayout>,
    /// Weights and biases, where [`NetworkShape::layer_layouts`] says.
    pub(super) parameters: Vec<f32>,
}

impl Network {
    /// Random weights, uniform within one over the square root of the layer's inputs. The biases of the labels follow how often
    /// they occur (`positives` of `rows`), so that training begins where a constant guess would end.
    pub fn random(shape: NetworkShape, seed: u64, positives: &[u64], rows: u64, loss: Loss) -> Network {
        let layer_layouts = shape.layer_layouts();
        let mut parameters = vec![0.0; shape.parameter_count()];
        for (layer, place) in layer_layouts.iter().enumerate() {
            let bound = 1.0 / (place.inputs as f64).sqrt();
            for (index, weight) in parameters[place.weights.clone()].iter_mut().enumerate() {
                let draw = uniform(bits(seed, Purpose::NetworkWeight, layer as u32, index as u64));
                *weight = ((2.0 * draw - 1.0) * bound) as f32;
            }
        }
        let last = layer_layouts[layer_layouts.len() - 1].biases.clone();
        for (bias, &positive) in parameters[last].iter_mut().zip(positives) {
            let share = (positive as f64 + 0.5) / (rows as f64 + 1.0);
            *bias = loss.best_constant_logit(share);
        }
        Network { shape, layer_layouts, parameters }
    }

    /// A network of known parameters, in the order of [`NetworkShape::layer_layouts`].
    ///
    /// # Panics
    /// If there are not as many as the shape has.
    pub(super) fn from_parameters(shape: NetworkShape, parameters: Vec<f32>) -> Network {
        assert_eq!(parameters.len(), shape.parameter_count());
        Network { layer_layouts: shape.layer_layouts(), shape, parameters }
    }

    pub(super) fn weights(&self, layer: usize) -> &[f32] {
        &self.parameters[self.layer_layouts[layer].weights.clone()]
    }

    pub(super) fn biases(&self, layer: usize) -> &[f32] {
        &self.parameters[self.layer_layouts[layer].biases.clone()]
    }

    pub(super) fn layers(&self) -> usize {
        self.layer_layouts.len()
    }
}
