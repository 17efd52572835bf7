use std::sync::Arc;

use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};

use super::FILE_CHUNK_BYTES;
use crate::body::Body;
use crate::{Error, Object, Piece};

#[tokio::test]
async fn pieces_of_a_local_file_are_cut_right() {
    let dir = tempfile::tempdir().unwrap();
    let store = LocalFileSystem::new_with_prefix(dir.path()).unwrap();
    let path = Path::from("object");
    let size = FILE_CHUNK_BYTES * 2 + 100;
    let bytes: Vec<_> = (0..size).map(|at| (at / 7) as u8).collect();
    store.put(&path, bytes.clone().into()).await.unwrap();
    let store: Arc<dyn ObjectStore> = Arc::new(store);
    let object = Object { id: 1, key: path.as_ref().into(), etag: None };
    let mut body = Body::get(&store, &object, 10..size).await.unwrap();
    for (offset, len) in [(10, 5), (20, 0), (20, 300), (FILE_CHUNK_BYTES - 1, 50), (size - 100, 100)] {
        let piece = Piece { offset, len, weight: len };
        let wanted = &bytes[offset as usize..][..len as usize];
        assert!(body.piece(&piece).await.unwrap() == wanted, "{piece:?}");
    }
    assert_eq!(body.received(), size - 10);
    let after = Piece { offset: size, len: 1, weight: 1 };
    assert!(matches!(body.piece(&after).await, Err(Error::Short { got, .. }) if got == size));
}
