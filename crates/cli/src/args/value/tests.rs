use super::*;

#[test]
fn sizes_are_read_as_coreutils_do() {
    for (text, bytes) in [
        ("0", 0),
        ("4096", 4096),
        ("4096B", 4096),
        ("1k", 1024),
        ("512M", 512 << 20),
        ("512MiB", 512 << 20),
        ("512mb", 512_000_000),
        ("4G", 4 << 30),
        ("1.5G", 3 << 29),
        (".5k", 512),
        ("0.001k", 1),
        ("2T", 2 << 40),
        ("15P", 15 << 50),
        (" 1 KiB ", 1024),
    ] {
        assert_eq!(size(text), Ok(bytes), "{text}");
    }
}

#[test]
fn what_is_no_size_is_refused_by_name() {
    for text in ["", "G", "-1", "1X", "1.2.3G", "1.G", "12MiBs", "1bb", "1e3", "99999999999999999999", "17179869184G"] {
        let error = size(text).unwrap_err();
        assert!(error.contains(text), "{text}: {error}");
    }
}

#[test]
fn times_are_seconds_or_have_a_unit() {
    assert_eq!(duration("5"), Ok(Duration::from_secs(5)));
    assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
    assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
    for text in ["0", "0ms", "2h", "soon", "-1", ""] {
        assert!(duration(text).is_err(), "{text}");
    }
}

#[test]
fn ages_may_be_long_and_nothing() {
    assert_eq!(age("0"), Ok(Duration::ZERO));
    assert_eq!(age("7d"), Ok(Duration::from_secs(7 * 24 * 3600)));
    assert!(age("101y").is_err());
    assert!(age("old").is_err());
}

#[test]
fn a_log_target_is_a_level_a_filter_or_a_file() {
    assert_eq!("debug".parse(), Ok(LogTarget::Filter("debug".into())));
    assert_eq!("stoa_volume=trace,warn".parse(), Ok(LogTarget::Filter("stoa_volume=trace,warn".into())));
    assert_eq!("/var/log/x=1.log".parse(), Ok(LogTarget::File("/var/log/x=1.log".into())));
    assert_eq!("stoa.log".parse(), Ok(LogTarget::File("stoa.log".into())));
    assert!("".parse::<LogTarget>().is_err());
}

#[test]
fn times_to_live_may_be_nothing() {
    assert_eq!(ttl("0"), Ok(Duration::ZERO));
    assert_eq!(ttl("500ms"), Ok(Duration::from_millis(500)));
    assert_eq!(ttl("1day"), Ok(Duration::from_secs(86_400)));
    assert!(ttl("2y").is_err() && ttl("-1").is_err() && ttl("").is_err());
}

#[test]
fn modes_are_octal() {
    assert_eq!((mode("644"), mode("0644"), mode("0")), (Ok(0o644), Ok(0o644), Ok(0)));
    for wrong in ["", "888", "+644", "4755", "0x1", "rw", "-1"] {
        assert!(mode(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn encryption_is_the_servers_or_with_a_key_of_ours() {
    let server = |algorithm: &str, key: Option<&str>| Encryption::Server {
        algorithm: algorithm.to_owned(),
        key: key.map(str::to_owned),
    };
    assert_eq!(encryption("s3"), Ok(server("AES256", None)));
    assert_eq!(encryption("kms"), Ok(server("aws:kms", None)));
    assert_eq!(encryption("kms:arn:aws:kms:x:1:key/2"), Ok(server("aws:kms", Some("arn:aws:kms:x:1:key/2"))));
    assert_eq!(encryption("c"), Ok(Encryption::Customer));
    assert!(["", "kms:", "c:x", "s3:x", "AES256"].iter().all(|text| encryption(text).is_err()));
}
