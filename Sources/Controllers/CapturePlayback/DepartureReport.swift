/// The departures of a playback so far.
struct DepartureReport: Sendable {
    /// The maximum number of departures that are kept.
    static let maximum = 10_000

    private(set) var departures: [CaptureDeparture] = []
    /// Called with each departure.
    private let observe: (@Sendable (CaptureDeparture) -> Void)?
    /// The last packet of the stack on each lane.
    var lastSent: [Lane: String] = [:]

    init(observe: (@Sendable (CaptureDeparture) -> Void)?) { self.observe = observe }

    mutating func add(_ departure: CaptureDeparture) {
        observe?(departure)
        guard departures.count < Self.maximum else { return }
        departures.append(departure)
    }
}
