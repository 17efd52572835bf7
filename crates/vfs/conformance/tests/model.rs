//! The model passes its own suite.

use std::sync::Arc;
use stoa_conformance::{Model, conformance_tests};
use stoa_vfs::Vfs;

async fn make() -> Arc<dyn Vfs> {
    Arc::new(Model::new())
}

conformance_tests!(make);
