use super::{delete, invalidate_entry, invalidate_inode};

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap())
}

#[test]
fn messages_have_no_number_and_their_own_length() {
    let messages = [(2, invalidate_inode(9, -1, 0)), (3, invalidate_entry(1, b"name")), (6, delete(1, 9, b"name"))];
    for (code, message) in &messages {
        assert_eq!((u32_at(message, 0) as usize, u32_at(message, 4), u64_at(message, 8)), (message.len(), *code, 0));
    }
    let [(_, inode), (_, entry), (_, gone)] = messages;
    assert_eq!((u64_at(&inode, 16), u64_at(&inode, 24).cast_signed(), inode.len()), (9, -1, 40));
    assert_eq!((u64_at(&entry, 16), u32_at(&entry, 24), &entry[32..]), (1, 4, &b"name\0"[..]));
    assert_eq!((u64_at(&gone, 16), u64_at(&gone, 24), u32_at(&gone, 32), &gone[40..]), (1, 9, 4, &b"name\0"[..]));
}
