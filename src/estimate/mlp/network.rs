//! A network: its shape and its numbers.

use super::loss::Loss;
use super::shape::{Place, Shape};
use crate::random::{Purpose, bits, unit};

/// A fully connected network with rectified hidden units; what it gives is a logit for each label.
#[derive(Clone, Debug)]
pub struct Network {
    pub shape: Shape,
    pub(super) places: Vec<Place>,
    /// Weights and biases, where [`Shape::places`] says.
    pub(super) numbers: Vec<f32>,
}

impl Network {
    /// Random weights, uniform within one over the square root of the layer's inputs. The biases of the labels follow how often
    /// they occur (`positives` of `rows`), so that training begins where a constant guess would end.
    pub fn random(shape: Shape, seed: u64, positives: &[u64], rows: u64, loss: Loss) -> Network {
        let places = shape.places();
        let mut numbers = vec![0.0; shape.parameters()];
        for (layer, place) in places.iter().enumerate() {
            let bound = 1.0 / (place.inputs as f64).sqrt();
            for (index, weight) in numbers[place.weights.clone()].iter_mut().enumerate() {
                let draw = unit(bits(seed, Purpose::NetworkWeight, layer as u32, index as u64));
                *weight = ((2.0 * draw - 1.0) * bound) as f32;
            }
        }
        let last = places[places.len() - 1].biases.clone();
        for (bias, &positive) in numbers[last].iter_mut().zip(positives) {
            let share = (positive as f64 + 0.5) / (rows as f64 + 1.0);
            *bias = loss.best_constant(share);
        }
        Network { shape, places, numbers }
    }

    /// A network of known numbers, in the order of [`Shape::places`].
    ///
    /// # Panics
    /// If there are not as many as the shape has.
    pub(super) fn from_numbers(shape: Shape, numbers: Vec<f32>) -> Network {
        assert_eq!(numbers.len(), shape.parameters());
        Network { places: shape.places(), shape, numbers }
    }

    pub(super) fn weights(&self, layer: usize) -> &[f32] {
        &self.numbers[self.places[layer].weights.clone()]
    }

    pub(super) fn biases(&self, layer: usize) -> &[f32] {
        &self.numbers[self.places[layer].biases.clone()]
    }

    pub(super) fn layers(&self) -> usize {
        self.places.len()
    }
}
