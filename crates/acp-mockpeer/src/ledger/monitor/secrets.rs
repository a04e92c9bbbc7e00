//! Secrets where none may be: in the fields of forms, and in addresses.

use serde_json::Value;

/// What a field of a form is called that asks for a secret, in words.
const SECRETS: &str = "password, passwd, passphrase, secret, client secret, api key, apikey, \
                       access key, access token, auth token, refresh token, bearer token, \
                       private key, secret key, recovery code, card number";

/// Parameters of an address that are credentials, or say who somebody is.
const TELLING: &str = "access_token refresh_token id_token auth_token session_token token jwt \
                       api_key apikey password passwd pwd secret client_secret session_id \
                       sessionid email login_hint phone ssn";

/// Names the field of a form that asks for a secret (R197, R198).
pub(super) fn asked_for(form: &Value) -> Option<String> {
    let fields = form["requestedSchema"]["properties"].as_object()?;
    let is_one = |text: &str| {
        SECRETS
            .split(", ")
            .any(|secret| holds(&words(text), secret))
    };
    let mut fields = fields.iter();
    let found = fields.find(|(name, field)| {
        is_one(name) || field["title"].as_str().is_some_and(is_one) || field["format"] == "password"
    });
    found.map(|(name, _)| name.clone())
}

/// Says what an address tells that nobody may see (R211).
pub(super) fn told_by(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.contains('@') {
        return Some("credentials before its host".to_owned());
    }
    let parameters = rest.split(['?', '#', '&']).skip(1);
    for parameter in parameters {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let name = name.to_ascii_lowercase();
        if TELLING.split(' ').any(|telling| telling == name) && !value.is_empty() {
            return Some(format!("the parameter `{name}`"));
        }
        let value = value.replace("%40", "@");
        if value
            .split_once('@')
            .is_some_and(|(user, host)| !user.is_empty() && host.contains('.'))
        {
            return Some(format!("an e-mail address in `{name}`"));
        }
    }
    None
}

/// Tells whether an address is read by everybody on its way (R212).
pub(super) fn is_plain(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else {
        return false;
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let at_home = ["localhost", "127.0.0.1", "[::1]"];
    !at_home.iter().any(|home| {
        let port = host.strip_prefix(home);
        port.is_some_and(|port| port.is_empty() || port.starts_with(':'))
    })
}

/// Tells whether something that a form shows is an address to click on (R213).
pub(super) fn holds_address(form: &Value) -> bool {
    let is_one = |text: &str| text.contains("http://") || text.contains("https://");
    let mut open = vec![&form["message"], &form["requestedSchema"]];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) if is_one(text) => return true,
            Value::Array(values) => open.extend(values),
            Value::Object(members) => {
                // These are not shown.
                let hidden = ["_meta", "$schema", "$id", "pattern"];
                let shown = members
                    .iter()
                    .filter(|(name, _)| !hidden.contains(&name.as_str()));
                open.extend(shown.map(|(_, value)| value));
            }
            _ => {}
        }
    }
    false
}

/// Splits `apiKey`, `api_key` and `API key` into the same words.
fn words(text: &str) -> String {
    let mut words = String::new();
    let mut after_small = false;
    for c in text.chars() {
        if c.is_alphanumeric() {
            if c.is_uppercase() && after_small {
                words.push(' ');
            }
            words.extend(c.to_lowercase());
        } else if !words.ends_with(' ') {
            words.push(' ');
        }
        after_small = c.is_lowercase() || c.is_ascii_digit();
    }
    words
}

/// Tells whether these words hold those, one behind the other.
fn holds(words: &str, sought: &str) -> bool {
    let words: Vec<&str> = words.split_whitespace().collect();
    let sought: Vec<&str> = sought.split_whitespace().collect();
    words.windows(sought.len()).any(|some| some == sought)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_that_ask_for_secrets() {
        let form = |name: &str, title: &str| json!({"requestedSchema": {"properties": {"a": {"type": "string"}, name: {"title": title}}}});
        for (name, title) in [
            ("password", "x"),
            ("apiKey", "x"),
            ("API_KEY", "x"),
            ("field", "Your GitHub access token"),
            ("newPassword", "x"),
        ] {
            assert_eq!(asked_for(&form(name, title)).as_deref(), Some(name));
        }
        for (name, title) in [
            ("tokens", "Number of tokens"),
            ("key", "Key of C"),
            ("secretary", "x"),
        ] {
            assert_eq!(asked_for(&form(name, title)), None);
        }
        assert_eq!(asked_for(&json!({"mode": "url"})), None);
    }

    #[test]
    fn addresses_in_forms() {
        let form = |title: &str| json!({"message": "x", "requestedSchema": {"$schema": "https://json-schema.org", "properties": {"a": {"title": title}}}});
        assert!(!holds_address(&form("Which plant?")));
        assert!(holds_address(&form("[Plants](https://example.com)")));
        assert!(holds_address(&json!({"message": "See http://example.com"})));
    }

    #[test]
    fn plain_addresses() {
        for url in [
            "http://example.com/",
            "http://localhost.example.com",
            "http://127.0.0.1.example.com",
        ] {
            assert!(is_plain(url), "{url}");
        }
        for url in [
            "https://example.com",
            "http://localhost:80/a",
            "http://127.0.0.1",
            "http://[::1]:1",
            "x",
        ] {
            assert!(!is_plain(url), "{url}");
        }
    }

    #[test]
    fn addresses_that_tell_too_much() {
        for url in [
            "https://ada:pw@example.com/",
            "https://ada@example.com",
            "https://example.com/?a=1&access_token=abc",
            "https://example.com/#id_token=abc",
            "https://example.com/in?for=ada%40example.com",
            "https://example.com/?Email=ada",
        ] {
            assert!(told_by(url).is_some(), "{url}");
        }
        for url in [
            "https://example.com/",
            "https://example.com/@ada",
            "https://example.com/authorize?client_id=a&state=xyz&code_challenge=b&redirect_uri=http://localhost:1",
            "https://example.com/?token",
            "nothing at all",
        ] {
            assert_eq!(told_by(url), None, "{url}");
        }
    }
}
