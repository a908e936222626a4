/// The state of a Live Activity.
public enum ActivityState: Codable, Hashable, Sendable {
    /// The activity is shown, and can be updated.
    case active
    /// The activity has a date to start at. It does not occur here.
    case pending
    /// The activity has ended, and is shown until it is dismissed.
    case ended
    /// The activity is no longer shown: the user or the system has removed it.
    case dismissed
    /// The content is out of date, and can be updated.
    case stale
}
