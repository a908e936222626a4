extension Duration {
    /// Returns a pause that doubles with each attempt, from `first` on, up to `longest`.
    ///
    /// - Parameter doublings: The number of attempts that had a pause before. A negative number counts as 0.
    static func backoff(first: Duration, doublings: Int, longest: Duration) -> Duration {
        min(first * (1 << min(max(0, doublings), 16)), longest)
    }
}
