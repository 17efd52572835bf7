use super::*;
use std::fs::Permissions;

const RAW: [u8; 32] = *b"0123456789abcdef0123456789abcdef";
const BASE64: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

fn read(content: &[u8], mode: u32) -> Result<CustomerKey> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("key");
    std::fs::write(&file, content).unwrap();
    std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
    CustomerKey::read(&file)
}

#[test]
fn a_key_is_32_bytes_or_their_base64() {
    let key = read(&RAW, 0o600).unwrap();
    assert_eq!(read(BASE64.as_bytes(), 0o640).unwrap(), key);
    assert_eq!(read(format!("{BASE64}\n").as_bytes(), 0o400).unwrap(), key);
    let mut headers = HeaderMap::new();
    key.write(&mut headers);
    assert_eq!(headers["x-amz-server-side-encryption-customer-algorithm"], "AES256");
    assert_eq!(headers["x-amz-server-side-encryption-customer-key"], BASE64);
    assert_eq!(headers["x-amz-server-side-encryption-customer-key-md5"], md5(&RAW));
    for wrong in [&RAW[1..], b"", b"MDEy", &[RAW, RAW].concat(), &[b'A'; 4096]] {
        let error = read(wrong, 0o600).unwrap_err().to_string();
        assert!(error.contains("/key") && error.contains("32 bytes"), "{error}");
    }
}

#[test]
fn a_file_that_every_user_can_read_is_refused() {
    for mode in [0o644, 0o604, 0o602] {
        assert!(read(&RAW, mode).unwrap_err().to_string().contains("every user"), "{mode:o}");
    }
    assert!(CustomerKey::read(Path::new("/no/such/file")).unwrap_err().to_string().contains("/no/such/file"));
}

#[test]
fn it_is_not_shown() {
    let key = read(&RAW, 0o600).unwrap();
    let mut headers = HeaderMap::new();
    key.write_source(&mut headers);
    let shown = format!("{key:?} {headers:?}");
    assert!(!shown.contains(BASE64) && !shown.contains("0123456789"), "{shown}");
}
