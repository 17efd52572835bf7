use super::*;

fn ask(method: Method, path: &str) -> Response<Full<Bytes>> {
    let request = Request::builder().method(method).uri(path).body(String::new()).unwrap();
    answer(&request, || "stoa_info 1\n".into())
}

#[test]
fn counts_are_at_one_path() {
    let found = ask(Method::GET, "/metrics");
    assert_eq!(found.status(), StatusCode::OK);
    assert_eq!(found.headers()[CONTENT_TYPE], "text/plain; version=0.0.4; charset=utf-8");
    assert_eq!(ask(Method::GET, "/metrics?x=1").status(), StatusCode::OK);
    assert_eq!(ask(Method::HEAD, "/metrics").status(), StatusCode::OK);
    for path in ["/", "/metrics/", "/Metrics", "/../metrics"] {
        assert_eq!(ask(Method::GET, path).status(), StatusCode::NOT_FOUND, "{path}");
    }
}

#[test]
fn nothing_but_reading() {
    for method in [Method::POST, Method::DELETE, Method::PUT, Method::OPTIONS] {
        let refused = ask(method, "/metrics");
        assert_eq!(refused.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(refused.headers()[ALLOW], "GET, HEAD");
    }
}

#[tokio::test]
async fn a_port_that_is_taken_is_refused_with_advice() {
    let first = Exporter::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    assert!(first.url().starts_with("http://127.0.0.1:") && !first.url().contains(":0/"), "{}", first.url());
    let refused = Exporter::bind(first.address).await.unwrap_err();
    assert!(refused.what().contains("--metrics 127.0.0.1:"), "{}", refused.what());
    assert!(refused.advice().unwrap().contains("another port"));
}
