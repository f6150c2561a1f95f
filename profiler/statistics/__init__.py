"""Statistics of noisy, correlated windows: screening for the search, confirmation for the claims.

result           what a test says: verdict, effect, interval, p, detectable effect
doubt            what makes figures doubtful
screening        two rounds of a search; search_noise feeds it with what all rounds tell about their noise
confirmation     arms in interleaved blocks, and their order
correlation      lag-1 of windows, and how many independent ones they are worth
control_variate  the machine's own speed as a control variate
stationarity     the end of warm-up
interval         the confidence interval of one mean
normality        Lilliefors' test, and Mann-Whitney's p where it rejects
holm             several criteria, one family error
noise_floor      what a design could detect
student          Student's t for a difference of logs, where both designs end

Numbers in, numbers out: nothing here knows windows, rounds or any other room. Import from the modules: this package
itself loads nothing, as scipy takes longer than `profile --help` may.
What the tests were measured to do stands in scripts/benches/results/statistics.md.
"""
