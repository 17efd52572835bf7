use super::*;

fn entry(tag: AclTag, permissions: u16) -> AclEntry {
    AclEntry { tag, permissions }
}

fn minimal(owner: u16, group: u16, other: u16) -> Vec<AclEntry> {
    vec![entry(AclTag::Owner, owner), entry(AclTag::OwningGroup, group), entry(AclTag::Other, other)]
}

fn extended() -> Acl {
    Acl::new(vec![
        entry(AclTag::Owner, 7),
        entry(AclTag::User(1000), 6),
        entry(AclTag::User(7), 4),
        entry(AclTag::OwningGroup, 5),
        entry(AclTag::Group(20), 7),
        entry(AclTag::Mask, 6),
        entry(AclTag::Other, 1),
    ])
    .unwrap()
}

#[test]
fn what_is_encoded_parses_back() {
    let acl = extended();
    let value = acl.encode();
    assert_eq!(value.len(), 4 + 7 * 8);
    assert_eq!(Acl::parse(&value).unwrap().unwrap(), acl);
}

#[test]
fn the_binary_form_is_the_kernels() {
    let acl = Acl::new(minimal(6, 4, 0)).unwrap();
    let expected = [
        2, 0, 0, 0, // version
        1, 0, 6, 0, 255, 255, 255, 255, // owner
        4, 0, 4, 0, 255, 255, 255, 255, // group
        32, 0, 0, 0, 255, 255, 255, 255, // other
    ];
    assert_eq!(acl.encode().as_ref(), expected);
}

#[test]
fn no_entries_is_no_list() {
    assert_eq!(Acl::parse(b"").unwrap(), None);
    assert_eq!(Acl::parse(&[2, 0, 0, 0]).unwrap(), None);
}

#[test]
fn hostile_values_are_refused() {
    let good = extended().encode();
    for cut in 1..good.len() {
        let parsed = Acl::parse(&good[..cut]);
        assert!(!matches!(parsed, Ok(Some(_))), "cut at {cut}: {parsed:?}");
    }
    assert!(matches!(Acl::parse(&[1, 0, 0, 0]), Err(Error::Unsupported(_))));
    let huge = [vec![2, 0, 0, 0], vec![0; 8 * 10_000]].concat();
    assert!(matches!(Acl::parse(&huge), Err(Error::Invalid(_))));
    let mut unknown_tag = good.to_vec();
    unknown_tag[4] = 3;
    assert!(matches!(Acl::parse(&unknown_tag), Err(Error::Invalid(_))));
    let mut unknown_bits = good.to_vec();
    unknown_bits[6] = 8;
    assert!(matches!(Acl::parse(&unknown_bits), Err(Error::Invalid(_))));
    let mut nobody = good.to_vec();
    nobody[16..20].fill(255);
    assert!(matches!(Acl::parse(&nobody), Err(Error::Invalid(_))));
}

#[test]
fn rules_of_the_list_are_kept() {
    let twice = [minimal(7, 7, 7), vec![entry(AclTag::Other, 0)]].concat();
    assert!(Acl::new(twice).is_err());
    let mut reversed = minimal(7, 7, 7);
    reversed.reverse();
    assert!(Acl::new(reversed).is_err());
    assert!(Acl::new(minimal(7, 7, 7)[..2].to_vec()).is_err());
    let mut no_mask = minimal(7, 7, 7);
    no_mask.insert(1, entry(AclTag::User(5), 7));
    assert!(Acl::new(no_mask).is_err());
}

#[test]
fn the_mask_shows_as_group_bits() {
    assert_eq!(extended().mode_from_acl(), 0o761);
    assert_eq!(Acl::new(minimal(6, 4, 2)).unwrap().mode_from_acl(), 0o642);
}

#[test]
fn only_three_entries_say_no_more_than_a_mode() {
    assert!(Acl::new(minimal(6, 4, 2)).unwrap().is_equivalent_to_mode());
    assert!(!extended().is_equivalent_to_mode());
    let mut masked = minimal(6, 4, 2);
    masked.insert(2, entry(AclTag::Mask, 7));
    assert!(!Acl::new(masked).unwrap().is_equivalent_to_mode());
}

#[test]
fn chmod_changes_mask_or_group() {
    let mut acl = extended();
    acl.apply_chmod(0o4640);
    assert_eq!(acl.mode_from_acl(), 0o640);
    assert_eq!(acl.entries()[3].permissions, 5, "the group's own entry stays behind the mask");
    let mut plain = Acl::new(minimal(7, 7, 7)).unwrap();
    plain.apply_chmod(0o640);
    assert_eq!(plain.entries(), minimal(6, 4, 0));
}

#[test]
fn a_file_inherits_what_its_mode_allows() {
    let got = extended().inherit(0o2640, false);
    assert_eq!(got.mode, 0o2640);
    assert_eq!(got.default, None);
    let access = got.access.unwrap();
    assert_eq!(access.mode_from_acl(), 0o640);
    assert_eq!(access.entries()[1].permissions, 6);
}

#[test]
fn a_directory_inherits_the_default_too() {
    let got = extended().inherit(0o777, true);
    assert_eq!(got.mode, 0o761);
    assert_eq!(got.default, Some(extended()));
}

#[test]
fn a_minimal_default_leaves_only_mode_bits() {
    let got = Acl::new(minimal(7, 5, 0)).unwrap().inherit(0o666, false);
    assert_eq!((got.mode, got.access), (0o640, None));
}
