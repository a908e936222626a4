/// How often to advertise: what Apple asks of accessories so that its devices find them, fast at first and slow later
/// (behaviours 14.1, 14.2).
public enum AdvertisingPace: Hashable, Sendable {
    case fast
    case slow

    /// How long the fast phase lasts.
    public static let fastPhase: Duration = .seconds(30)

    /// How long to wait before a controller that could not advertise is asked again.
    static let retryDelay: Duration = .seconds(1)

    /// The advertising interval in units of 625 µs: 20 ms and 152.5 ms.
    public var interval: UInt16 {
        switch self {
        case .fast: 32
        case .slow: 244
        }
    }
}
