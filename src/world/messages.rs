//! Messages between ranks that are more than numbers.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::World;

impl World {
    /// Returns the values of all ranks on rank 0, in rank order; `None` elsewhere. Collective.
    pub fn gather_json<T: Serialize + DeserializeOwned>(&self, mine: &T) -> Option<Vec<T>> {
        Some(self.gather(&to_text(mine))?.iter().map(|text| from_text(text)).collect())
    }

    /// Returns the value of rank 0 on every rank. Collective.
    ///
    /// # Panics
    /// If rank 0 has no value.
    pub fn broadcast_json<T: Serialize + DeserializeOwned>(&self, from_root: Option<T>) -> T {
        let mut text = from_root.map(|value| to_text(&value)).unwrap_or_default();
        self.broadcast(&mut text);
        from_text(&text)
    }
}

fn to_text<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("numbers and strings can be written as JSON")
}

fn from_text<T: DeserializeOwned>(text: &[u8]) -> T {
    serde_json::from_slice(text).expect("ranks of one program understand each other")
}
