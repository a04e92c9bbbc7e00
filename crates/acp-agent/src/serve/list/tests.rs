use std::time::{Duration, UNIX_EPOCH};

use acp_host::CatalogOrder;

use super::*;

fn id(text: &str) -> acp_host::SessionId {
    acp_host::SessionId::new(text).unwrap()
}

fn entry(number: usize, cwd: &str) -> CatalogEntry {
    CatalogEntry::new(id(&format!("s-{number:04}"))).with_cwd(cwd)
}

/// A catalog that gives what is asked for, and no more.
fn pages_natively(all: &[CatalogEntry], query: &CatalogQuery) -> Vec<CatalogEntry> {
    let mut all: Vec<_> = all.to_vec();
    all.sort_by(|a, b| query.order.compare(&a.position(), &b.position()));
    all.into_iter()
        .filter(|entry| query.is_behind(entry))
        .filter(|entry| query.cwd.is_none() || entry.cwd == query.cwd)
        .take(query.limit)
        .collect()
}

/// Reads page by page until the end.
fn read_all(
    list: impl Fn(&CatalogQuery) -> Vec<CatalogEntry>,
    cwd: Option<&str>,
    live: &HashMap<SessionId, PathBuf>,
) -> (Vec<String>, usize) {
    let mut query = CatalogQuery::new(PAGE + 1);
    query.cwd = cwd.map(PathBuf::from);
    let (mut ids, mut pages) = (Vec::new(), 0);
    loop {
        let page = Page::cut(list(&query), &query, live);
        assert!(page.entries.len() <= PAGE);
        pages += 1;
        ids.extend(page.entries.iter().map(|entry| entry.id.to_string()));
        match page.more_after {
            Some(after) => query.after = Some(after),
            None => return (ids, pages),
        }
    }
}

#[test]
fn every_session_is_on_exactly_one_page() {
    let none = HashMap::new();
    for count in [0, 1, 99, 100, 101, 250, 300] {
        // Out of order, and of two folders.
        let all: Vec<_> = (0..count)
            .rev()
            .map(|n| entry(n, if n % 3 == 0 { "/a" } else { "/b" }))
            .collect();
        let want = |keep: &dyn Fn(usize) -> bool| -> Vec<String> {
            (0..count)
                .filter(|n| keep(*n))
                .map(|n| format!("s-{n:04}"))
                .collect()
        };
        for (cwd, keep) in [
            (None, &(|_| true) as &dyn Fn(usize) -> bool),
            (Some("/a"), &|n| n % 3 == 0),
            (Some("/c"), &|_| false),
        ] {
            let (ids, _) = read_all(|_| all.clone(), cwd, &none);
            assert_eq!(ids, want(keep), "all of {count} at once, {cwd:?}");
            let (ids, pages) = read_all(|query| pages_natively(&all, query), cwd, &none);
            assert_eq!(ids, want(keep), "{count} by pages, {cwd:?}");
            assert!(pages <= want(keep).len() / PAGE + 1);
        }
    }
}

#[test]
fn the_newest_sessions_are_on_the_first_page() {
    let at = |second| UNIX_EPOCH + Duration::from_secs(second);
    // Two of each second, and one without a time, out of order.
    let mut all: Vec<_> = (0..250)
        .map(|n| entry(n, "/a").with_updated_at(at((n as u64 * 7) % 125)))
        .collect();
    all.push(entry(999, "/a"));
    let (ids, _) = read_all(|_| all.clone(), None, &HashMap::new());
    let (by_pages, _) = read_all(|query| pages_natively(&all, query), None, &HashMap::new());
    assert_eq!(ids, by_pages);
    assert_eq!(ids.len(), 251);
    let time = |id: &String| {
        let entry = all.iter().find(|entry| entry.id.as_str() == id);
        (entry.unwrap().updated_at, std::cmp::Reverse(id.clone()))
    };
    assert!(ids.iter().map(time).is_sorted_by(|a, b| a > b), "{ids:?}");
    assert_eq!(ids[250], "s-0999");
}

#[test]
fn a_host_may_list_by_ids() {
    let at = |second| UNIX_EPOCH + Duration::from_secs(second);
    let all: Vec<_> = (0..3)
        .map(|n| entry(n, "/a").with_updated_at(at(n as u64)))
        .collect();
    let mut query = CatalogQuery::new(PAGE + 1);
    let listed = |query: &CatalogQuery| {
        let page = Page::cut(all.clone(), query, &HashMap::new());
        let ids = page.entries.iter().map(|entry| entry.id.to_string());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(listed(&query), ["s-0002", "s-0001", "s-0000"]);
    query.order = CatalogOrder::ById;
    assert_eq!(listed(&query), ["s-0000", "s-0001", "s-0002"]);
}

/// No session is listed twice because of something that happens between two pages.
#[test]
fn a_session_that_moves_up_is_not_listed_again() {
    let at = |second| UNIX_EPOCH + Duration::from_secs(second);
    let mut all: Vec<_> = (0..150)
        .map(|n| entry(n, "/a").with_updated_at(at(1000 - n as u64)))
        .collect();
    let mut query = CatalogQuery::new(PAGE + 1);
    let first = Page::cut(all.clone(), &query, &HashMap::new());
    query.after = first.more_after;
    // One that was listed, and the last one.
    all[3].updated_at = Some(at(2000));
    all[149].updated_at = Some(at(2001));
    let second = Page::cut(all.clone(), &query, &HashMap::new());
    let ids: Vec<_> = second
        .entries
        .iter()
        .map(|entry| entry.id.as_str())
        .collect();
    let want: Vec<_> = (100..149).map(|n| format!("s-{n:04}")).collect();
    assert_eq!(ids, want);
}

#[test]
fn a_live_session_knows_its_folder_best() {
    let live = HashMap::from([
        (SessionId::from("s-0001"), PathBuf::from("/moved")),
        (SessionId::from("s-0002"), PathBuf::from("/known")),
    ]);
    let mut unknown = entry(2, "/");
    unknown.cwd = None;
    let mut nowhere = entry(3, "/");
    nowhere.cwd = None;
    let all = [entry(0, "/a"), entry(1, "/a"), unknown, nowhere];
    let (ids, _) = read_all(|_| all.to_vec(), None, &live);
    assert_eq!(ids, ["s-0000", "s-0001", "s-0002"]);
    let (ids, _) = read_all(|_| all.to_vec(), Some("/moved"), &live);
    assert_eq!(ids, ["s-0001"]);
    let (ids, _) = read_all(|_| all.to_vec(), Some("/a"), &live);
    assert_eq!(ids, ["s-0000"]);
}

#[test]
fn a_page_has_a_budget_in_bytes() {
    let long = |number: usize| entry(number, &format!("/{}", "d".repeat(4_000)));
    let all: Vec<_> = (0..150).map(long).collect();
    let (ids, pages) = read_all(|query| pages_natively(&all, query), None, &HashMap::new());
    assert_eq!(ids.len(), 150);
    assert_eq!(pages, 3, "64 of them fill a page");
    // One that is larger than a page stands alone.
    let mut huge = entry(0, "/a");
    huge.title = Some("t".repeat(2 * MAX_LIST_PAGE));
    let all = [huge, entry(1, "/b")];
    let (ids, pages) = read_all(|_| all.to_vec(), None, &HashMap::new());
    assert_eq!((ids.len(), pages), (2, 2));
}
