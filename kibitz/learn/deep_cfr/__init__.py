"""Deep CFR (Brown, Lerer, Gross and Sandholm 2019): CFR whose regrets a network foretells.

`config` has every number, `traversal` samples the game, `memory` keeps what was found, `networks` are nets as data and
files, `learning` fits them with torch, `average` makes one strategy of many, `solver` joins these,
`loop` makes a run of it, `method` names it.
"""
