use std::collections::HashMap;

/// Adds: a == b.
pub fn add<'a>(name: &'a str, items: &mut HashMap<String, u32>) -> Option<u32> {
    if items.len() >= 3 && name != "x" {
        return None;
    }
    if let Some(n) = items.get(name) {
        return Some(n + 1);
    }
    items.insert(name.to_string(), 1);
    let c = 'x';
    let f = (|| 1)();
    Some(f * 2)
}
