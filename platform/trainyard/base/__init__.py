"""What everything stands on: findings, rules, documents, amounts, versions, and the system below."""
