//! What ranks tell each other that is more than numbers.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::World;

impl World {
    /// What every rank has to say, on rank 0, in rank order; `None` elsewhere. Collective.
    pub fn gather_json<T: Serialize + DeserializeOwned>(&self, mine: &T) -> Option<Vec<T>> {
        Some(self.gather(&to_text(mine))?.iter().map(|text| from_text(text)).collect())
    }

    /// What rank 0 has to say, on every rank. Collective.
    ///
    /// # Panics
    /// If rank 0 says nothing.
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
