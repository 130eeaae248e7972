//! Writes `.npy` and `.npz` files for tests, good and bad.

use std::io::Write;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// An array file with the given header fields and data, in version 1.
pub fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

pub fn floats(values: &[f64]) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy("<f8", &format!("({},)", values.len()), &data)
}

pub fn integers(values: &[i64]) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy("<i8", &format!("({},)", values.len()), &data)
}

pub fn word(text: &str) -> Vec<u8> {
    npy(&format!("|S{}", text.len()), "()", text.as_bytes())
}

/// A zip archive of `name.npy` members.
pub fn npz(members: &[(&str, Vec<u8>)], deflate: bool) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in members {
        let name = format!("{name}.npy");
        let packed = if deflate {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        } else {
            bytes.clone()
        };
        let mut checksum = Crc::new();
        checksum.update(bytes);
        let mut common = vec![20, 0, 0, 0, if deflate { 8 } else { 0 }, 0, 0, 0, 0, 0];
        common.extend(checksum.sum().to_le_bytes());
        common.extend((packed.len() as u32).to_le_bytes());
        common.extend((bytes.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        let offset = file.len() as u32;
        file.extend(b"PK\x03\x04");
        file.extend(&common);
        file.extend(name.as_bytes());
        file.extend(packed);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let count = (members.len() as u16).to_le_bytes();
    let (size, offset) = (directory.len() as u32, file.len() as u32);
    file.extend(directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend([count, count].concat());
    file.extend(size.to_le_bytes());
    file.extend(offset.to_le_bytes());
    file.extend([0, 0]);
    file
}

/// A CSR matrix as SciPy saves it.
pub fn csr(shape: [i64; 2], indptr: &[i64], indices: &[i64], data: &[f64]) -> Vec<u8> {
    let members = [
        ("indices", integers(indices)),
        ("indptr", integers(indptr)),
        ("format", word("csr")),
        ("shape", integers(&shape)),
        ("data", floats(data)),
    ];
    npz(&members, true)
}
