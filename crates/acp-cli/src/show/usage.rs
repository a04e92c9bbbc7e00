//! How much of the context is used, and what it cost.

use acp_protocol::v1::UsageUpdate;

use super::line::one_line;

/// What the agent said last of it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Usage {
    context: Option<String>,
    cost: Option<String>,
}

impl Usage {
    pub(super) fn of(update: &UsageUpdate) -> Self {
        let context = match update.size {
            0 => format!("{} tokens", short(update.used)),
            size => format!("{} of {} tokens", short(update.used), short(size)),
        };
        let cost = update.cost.as_ref().map(|cost| {
            let digits = if cost.amount.abs() < 0.01 { 4 } else { 2 };
            match cost.currency.as_str() {
                "USD" => format!("${:.digits$}", cost.amount),
                other => format!("{:.digits$} {}", cost.amount, one_line(other)),
            }
        });
        Self {
            context: Some(context),
            cost,
        }
    }

    /// Returns it in words, each of them short.
    pub(super) fn words(&self) -> impl Iterator<Item = String> {
        self.context.clone().into_iter().chain(self.cost.clone())
    }
}

fn short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..10_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        10_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use acp_protocol::v1::Cost;

    use super::*;

    #[test]
    fn it_is_said_in_short() {
        let words = |usage: UsageUpdate| Usage::of(&usage).words().collect::<Vec<_>>().join(", ");
        assert_eq!(words(UsageUpdate::new(999, 0)), "999 tokens");
        assert_eq!(
            words(UsageUpdate::new(1_250, 200_000)),
            "1.2k of 200k tokens"
        );
        let cost = |amount, currency| {
            UsageUpdate::new(0, 1_500_000).with_cost(Cost::new(amount, currency))
        };
        assert_eq!(words(cost(0.0012, "USD")), "0 of 1.5M tokens, $0.0012");
        assert_eq!(
            words(cost(12.5, "credits")),
            "0 of 1.5M tokens, 12.50 credits"
        );
    }
}
