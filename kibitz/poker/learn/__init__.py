"""Deep CFR in hold'em: samples of a table strategy, exact measures of a network."""
