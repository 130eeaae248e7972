//! The header of a NumPy array file (NumPy Enhancement Proposal 1).
//!
//! Supports the headers that NumPy writes for plain arrays. The crate `npyz` supports more, but overflows on a damaged shape
//! and depends on zip, bzip2, zstd and AES.

/// A parsed header; `data` is the offset of the values.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NpyHeader {
    pub descr: String,
    pub fortran: bool,
    pub shape: Vec<usize>,
    pub data: usize,
}

impl NpyHeader {
    /// Parses the magic bytes, the version and the Python dictionary that follows.
    pub fn parse(bytes: &[u8]) -> Result<NpyHeader, String> {
        let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or("the magic bytes are missing")?;
        let (length, start) = match rest {
            [1, _, a, b, ..] => (u16::from_le_bytes([*a, *b]) as usize, 10),
            [2 | 3, _, a, b, c, d, ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, 12),
            [version, ..] if *version > 3 => {
                return Err(format!("version {version} is unknown; 1 to 3 are supported"));
            }
            _ => return Err("the header is cut short".to_owned()),
        };
        let data = start + length;
        let text = bytes.get(start..data).ok_or("the header is cut short")?;
        let text = std::str::from_utf8(text).map_err(|_| "the header is not UTF-8")?;
        parse_dictionary(text, data).ok_or_else(|| format!("its header is {}", text.trim_end()))
    }
}

/// Parses `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`, keys in any order.
fn parse_dictionary(text: &str, data: usize) -> Option<NpyHeader> {
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    let mut rest = text.trim().strip_prefix('{')?;
    loop {
        rest = rest.trim_start();
        if let Some(end) = rest.strip_prefix('}') {
            return end.is_empty().then_some(NpyHeader {
                descr: descr?,
                fortran: fortran?,
                shape: shape?,
                data,
            });
        }
        let (key, after) = quoted(rest)?;
        rest = after.trim_start().strip_prefix(':')?.trim_start();
        match key {
            "descr" => {
                let (text, after) = quoted(rest)?;
                descr = Some(text.to_owned());
                rest = after;
            }
            "fortran_order" => {
                let end = rest.find(|c: char| !c.is_ascii_alphabetic())?;
                fortran = Some(match &rest[..end] {
                    "True" => true,
                    "False" => false,
                    _ => return None,
                });
                rest = &rest[end..];
            }
            "shape" => {
                let (sizes, after) = rest.strip_prefix('(')?.split_once(')')?;
                shape = Some(parse_shape(sizes)?);
                rest = after;
            }
            _ => return None,
        }
        rest = rest.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
}

fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote)
}

fn parse_shape(sizes: &str) -> Option<Vec<usize>> {
    let sizes = sizes.trim();
    let sizes = sizes.strip_suffix(',').unwrap_or(sizes);
    if sizes.is_empty() {
        return Some(Vec::new());
    }
    sizes.split(',').map(|size| size.trim().parse().ok()).collect()
}
