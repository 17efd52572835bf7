use super::*;

#[test]
fn a_directory_is_the_same_store_however_it_is_written() {
    let home = tempfile::tempdir().unwrap();
    let real = home.path().canonicalize().unwrap().join("store");
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, home.path().join("link")).unwrap();
    let expected = real.display().to_string();
    for text in ["store", "link", "store/", "./store/../link/.", "link/"] {
        let text = home.path().join(text).display().to_string();
        assert_eq!(Place::parse(&text).unwrap().name(), expected, "{text}");
    }
    let missing = Place::parse(&home.path().join("link/not/yet").display().to_string()).unwrap();
    assert_eq!(missing.name(), format!("{expected}/not/yet"));
    let url = Place::parse(&format!("file://{expected}")).unwrap();
    assert_eq!(url.directory(), Some(real.as_path()));
}

#[test]
fn a_relative_directory_becomes_absolute() {
    let place = Place::parse("no/such/store").unwrap();
    let here = std::env::current_dir().unwrap().canonicalize().unwrap();
    assert_eq!(place.directory(), Some(here.join("no/such/store").as_path()));
}

#[test]
fn a_bad_url_is_a_usage_failure_that_repeats_no_secret() {
    for text in
        ["s3://key:hunter2@bucket/x", "s3://bucket?token=hunter2", "ftp://host", "s3:/bucket", "https://host/bucket"]
    {
        let failure = Place::parse(text).unwrap_err();
        assert_eq!(failure.code(), USAGE, "{text}");
        assert!(!format!("{failure:?}").contains("hunter2"), "{failure:?}");
    }
}

#[test]
fn advice_on_tls_is_about_what_is_wrong_with_it() {
    for (detail, advice) in [
        ("invalid peer certificate: UnknownIssuer", "--ca-file"),
        ("invalid peer certificate: certificate not valid for name", "another certificate"),
        ("invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))", "CA:FALSE"),
        ("received corrupt message of type InvalidContentType", "http://"),
    ] {
        let error =
            stoa_objects::Error::Tls { op: "listing".into(), endpoint: "https://h".into(), detail: detail.into() };
        let failure = advised("s3://b/v", &error);
        assert!(failure.what().contains(detail) && failure.advice().unwrap().contains(advice), "{failure:?}");
    }
}

#[test]
fn failures_of_a_volume_name_the_place_and_say_what_to_do() {
    let failure = volume_failure("s3://b/v", &stoa_volume::Error::NotAVolume("volume.json".into()));
    assert_eq!(failure.what(), "there is no Stoa volume at s3://b/v");
    assert!(failure.advice().unwrap().contains("stoa format"));
    let cause = stoa_objects::Error::NoCredentials { store: "s3://b/v".into(), tried: "environment".into() };
    let failure = volume_failure("s3://b/v", &stoa_volume::Error::Store(cause));
    assert!(failure.what().contains("no credentials"), "{failure:?}");
    assert!(failure.advice().unwrap().contains("AWS_PROFILE"));
    let failure = volume_failure("/srv/store", &stoa_volume::Error::Owned("host a".into()));
    assert!(failure.what().starts_with("/srv/store: ") && failure.what().contains("--take-over"), "{failure:?}");
}
