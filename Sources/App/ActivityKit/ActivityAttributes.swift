/// The content of a Live Activity: what stays as it is, and in ``ContentState`` what changes.
public protocol ActivityAttributes: Decodable, Encodable, SendableMetatype {
    /// The content that changes while the activity lasts. Encoded, it has 4 KB at most.
    associatedtype ContentState: Decodable, Encodable, Hashable
}

/// The content of a Live Activity at a time.
public struct ActivityContent<State: Decodable & Encodable & Hashable>: @unchecked Sendable {
    // Safe: it does not change, and a state is a value. Apple's type is Sendable whatever its state is.

    /// The content that changes.
    public let state: State
    /// When the content is out of date; nil for never. The activity is then ``ActivityState/stale`` until its next
    /// update.
    public let staleDate: Date?
    /// The place among several activities of the app. Nothing is shown here, so it has no effect.
    public let relevanceScore: Double

    /// Creates the content of an activity.
    ///
    /// - Parameters:
    ///   - state: The content that changes.
    ///   - staleDate: When the content is out of date; nil for never.
    ///   - relevanceScore: The place among several activities of the app.
    public init(state: State, staleDate: Date?, relevanceScore: Double = 0.0) {
        self.state = state
        self.staleDate = staleDate
        self.relevanceScore = relevanceScore
    }
}
