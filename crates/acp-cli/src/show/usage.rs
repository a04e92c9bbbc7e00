//! How much of the context is used, and what it cost.

use acp_protocol::v1::UsageUpdate;

use acp_text::{Clean, clean};

use super::line::one_line;

/// Says it in words, each of them short.
pub(super) fn words(usage: Option<&UsageUpdate>) -> impl Iterator<Item = Clean<'static>> {
    let context = usage.map(|usage| match usage.size {
        0 => clean!("{} tokens", short(usage.used)),
        size => clean!("{} of {} tokens", short(usage.used), short(size)),
    });
    let cost = usage.and_then(|usage| usage.cost.as_ref()).map(|cost| {
        let digits = if cost.amount.abs() < 0.01 { 4 } else { 2 };
        let amount = Clean::line(&format!("{:.digits$}", cost.amount));
        match cost.currency.as_str() {
            "USD" => clean!("${}", amount),
            other => clean!("{} {}", amount, one_line(other)),
        }
    });
    context.into_iter().chain(cost)
}

fn short(number: u64) -> Clean<'static> {
    match number {
        0..1_000 => clean!("{}", number),
        1_000..10_000 => clean!("{}.{}k", number / 1_000, number % 1_000 / 100),
        10_000..1_000_000 => clean!("{}k", number / 1_000),
        _ => clean!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use acp_protocol::v1::Cost;

    use super::*;

    #[test]
    fn it_is_said_in_short() {
        let said = |usage: UsageUpdate| Clean::join(words(Some(&usage)), &clean!(", "));
        assert_eq!(said(UsageUpdate::new(999, 0)), "999 tokens");
        assert_eq!(
            said(UsageUpdate::new(1_250, 200_000)),
            "1.2k of 200k tokens"
        );
        let cost = |amount, currency| {
            UsageUpdate::new(0, 1_500_000).with_cost(Cost::new(amount, currency))
        };
        assert_eq!(said(cost(0.0012, "USD")), "0 of 1.5M tokens, $0.0012");
        assert_eq!(
            said(cost(12.5, "credits")),
            "0 of 1.5M tokens, 12.50 credits"
        );
    }
}
