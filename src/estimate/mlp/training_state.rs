//! Progress of a training between two epochs, as checkpoints store it.

use serde::{Deserialize, Serialize};

use super::trial::{Trial, TrialResult};
use super::validation::ValidationScores;
use crate::checkpoint::Snapshot;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct TrainingState {
    /// Finished trials.
    pub tried: Vec<TrialResult>,
    /// The current trial; `None` during the final training on all rows.
    pub trial: Option<Trial>,
    /// Epochs done in it.
    pub epoch: u32,
    /// Its best epoch so far, and the scores there.
    pub best: Option<(u32, ValidationScores)>,
    /// Mean loss of each epoch of the final training.
    pub losses: Vec<f64>,
    /// Epochs done in all trials and the final training.
    pub total_epochs: u64,
    /// Steps done by Adam.
    pub steps: u32,
}

/// The parameters and their two moments.
pub(super) type ParametersAndMoments = [Vec<f32>; 3];

impl TrainingState {
    /// Returns the place of the training for messages.
    pub fn place(&self) -> String {
        format!("after epoch {}", self.total_epochs)
    }

    pub fn to_snapshot(&self, numbers: [&[f32]; 3], mut space: Vec<u8>) -> Snapshot {
        let text = serde_json::to_vec(self).expect("numbers can be written as JSON");
        space.extend((text.len() as u64).to_le_bytes());
        space.extend(text);
        numbers.into_iter().for_each(|numbers| space.extend_from_slice(bytemuck::cast_slice(numbers)));
        Snapshot { lasting: Vec::new(), fresh: space }
    }

    /// Decodes a snapshot of [`TrainingState::to_snapshot`]; `None` for any other bytes.
    pub fn from_bytes(saved: &[u8]) -> Option<(TrainingState, ParametersAndMoments)> {
        let (length, rest) = saved.split_at_checked(8)?;
        let length = u64::from_le_bytes(length.try_into().ok()?);
        let (text, rest) = rest.split_at_checked(length.try_into().ok()?)?;
        let progress = serde_json::from_slice(text).ok()?;
        let third = rest.len() / 3;
        if !rest.len().is_multiple_of(12) {
            return None;
        }
        let numbers = |at: usize| bytemuck::pod_collect_to_vec(&rest[at * third..(at + 1) * third]);
        Some((progress, std::array::from_fn(numbers)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_restores_all_bits() {
        let held_out =
            ValidationScores { loss: 0.1 + 0.2, precision: [1.0 / 3.0, 0.5, 1e-300], macro_f1: 0.7 };
        let trial = Trial { hidden: vec![128, 256], rate: 0.1 };
        let progress = TrainingState {
            tried: vec![TrialResult { trial: trial.clone(), epochs: 3, held_out }],
            trial: Some(trial),
            epoch: 4,
            best: Some((2, held_out)),
            losses: vec![0.7, 1.0 / 7.0],
            total_epochs: 9,
            steps: 44,
        };
        let numbers = [vec![1.5f32, -0.0, 1e-40], vec![2.0, 3.0, 4.0], vec![f32::MIN_POSITIVE, 0.1, 7.0]];
        let saved = progress.to_snapshot([&numbers[0], &numbers[1], &numbers[2]], Vec::new());
        let (found, back) = TrainingState::from_bytes(&saved.fresh).unwrap();
        assert_eq!(found, progress);
        assert_eq!(
            back.map(|it| it.iter().map(|n| n.to_bits()).collect::<Vec<_>>()),
            numbers.map(|it| it.iter().map(|n| n.to_bits()).collect::<Vec<_>>())
        );
        assert!(TrainingState::from_bytes(&saved.fresh[..saved.fresh.len() - 3]).is_none());
        assert!(TrainingState::from_bytes(&[1, 2]).is_none());
    }
}
