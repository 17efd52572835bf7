use super::{HEADER_BYTES, Row, TRAILER_BYTES, fingerprint, header, is_intact, rows, table, table_len};

const KEY: (u128, u64) = (0x0123_4567_89AB_CDEF_0011_2233_4455_6677, 4096);

#[test]
fn an_entry_is_intact_only_as_written() {
    let payload = b"some stored bytes";
    let len = payload.len() as u32;
    let mut entry = header(&KEY, payload, len);
    assert_eq!(entry.len(), HEADER_BYTES);
    entry.extend_from_slice(payload);
    assert!(is_intact(&entry, &KEY, len));
    assert!(!is_intact(&entry, &(KEY.0, 4097), len), "another piece");
    assert!(!is_intact(&entry, &(KEY.0 + 1, KEY.1), len), "another object");
    assert!(!is_intact(&entry, &KEY, len - 1), "another length");
    for bit in 0..entry.len() * 8 {
        entry[bit / 8] ^= 1 << (bit % 8);
        assert!(!is_intact(&entry, &KEY, len), "bit {bit} flipped");
        entry[bit / 8] ^= 1 << (bit % 8);
    }
    for cut in 0..entry.len() {
        assert!(!is_intact(&entry[..cut], &KEY, len), "cut at {cut}");
    }
}

#[test]
fn a_table_is_read_only_as_written() {
    let written: Vec<_> =
        (0..5).map(|at| Row { fingerprint: fingerprint(&(1, at)), position: at as u32 * 100, len: 9 }).collect();
    let mut bytes = table(&written);
    let trailer = bytes.len() - TRAILER_BYTES;
    assert_eq!(table_len(&bytes[trailer..]), Some(bytes.len()));
    assert_eq!(rows(&bytes).unwrap(), written);
    assert_eq!(rows(&table(&[])).unwrap(), []);
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        let len = table_len(&bytes[trailer..]);
        assert!(len != Some(bytes.len()) || rows(&bytes).is_none(), "bit {bit} flipped");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

/// What is on disks already must be found: this must never change without a new magic number.
#[test]
fn the_format_is_what_it_was() {
    assert_eq!(fingerprint(&KEY), FINGERPRINT);
    let header = header(&KEY, b"123456789", 9);
    assert_eq!(&header[..8], b"Ste1\x09\0\0\0");
    // The check value of CRC-64/NVME.
    assert_eq!(header[32..40], 0xAE8B_1486_0A79_9888_u64.to_le_bytes());
    assert_eq!(&table(&[])[..8], b"Stt1\0\0\0\0");
}

const FINGERPRINT: u64 = 3_254_506_737_193_276_590;
