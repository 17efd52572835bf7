use super::*;

#[test]
fn an_address_or_a_port_of_this_machine() {
    for (text, address) in [
        ("127.0.0.1:9090", "127.0.0.1:9090"),
        ("9090", "127.0.0.1:9090"),
        ("localhost:0", "127.0.0.1:0"),
        ("[::1]:80", "[::1]:80"),
        ("0.0.0.0:9090", "0.0.0.0:9090"),
    ] {
        assert_eq!(listen(text).unwrap().to_string(), address);
    }
    for bad in ["", "host:90", "127.0.0.1", "70000", "localhost", ":9090"] {
        assert!(listen(bad).unwrap_err().contains("is no address"), "{bad}");
    }
}
