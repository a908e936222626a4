import BluetoothTypes
import EventLoops
import ServiceMessages

/// A process that numbers the places of its calls, and knows their names.
package protocol PlaceKeeper: AnyObject {
    /// Called when the first observer begins to listen for advice, and when the last one has ended.
    func adviceWanted(_ isWanted: Bool)
    /// Asks for the name of a place, which ``AppPlaces/answer(_:_:by:)`` receives.
    func placeWanted(_ number: UInt32)
}

/// The places of calls in the processes of apps. Each process looks up its own: the service does not open the files of
/// apps. Used on the loop only.
package final class AppPlaces {
    /// The maximum number of places of a process that are looked up. Further ones are unknown (AB-G05).
    package static let maximum = 256
    /// How long a process may take for a place. Its own search ends before that.
    package static let answerTimeout = Duration.seconds(15)

    private struct Process {
        weak var keeper: (any PlaceKeeper)?
        var places: [UInt32: (finding: PlaceFinding, since: Instant)] = [:]
    }

    package private(set) var isAdviceWanted = false
    private var processes: [UInt32: Process] = [:]
    private var lastProcess: UInt32 = 0
    private let loop: any EventLoop

    package init(loop: any EventLoop) {
        self.loop = loop
    }

    /// Adds a process. It is not retained.
    ///
    /// - Returns: The number of the process in its ``CallSite``s.
    package func add(_ keeper: any PlaceKeeper) -> UInt32 {
        lastProcess &+= 1
        processes[lastProcess] = Process(keeper: keeper)
        return lastProcess
    }

    /// Removes a process that has ended. Places that were not found yet stay unknown.
    package func remove(_ process: UInt32) { processes[process] = nil }

    func setAdviceWanted(_ isWanted: Bool) {
        guard isWanted != isAdviceWanted else { return }
        isAdviceWanted = isWanted
        for (_, process) in processes.sorted(by: { $0.key < $1.key }) { process.keeper?.adviceWanted(isWanted) }
    }

    /// Returns what is known about a place, and asks its process the first time.
    package func find(_ site: CallSite) -> PlaceFinding {
        guard let process = processes[site.process] else { return .unknown }
        if let (finding, since) = process.places[site.number] {
            return finding == .pending && loop.now - since >= Self.answerTimeout ? .unknown : finding
        }
        guard process.places.count < Self.maximum, let keeper = process.keeper else { return .unknown }
        processes[site.process]?.places[site.number] = (.pending, loop.now)
        keeper.placeWanted(site.number)
        // It may have answered already.
        return processes[site.process]?.places[site.number]?.finding ?? .unknown
    }

    /// Receives the answer of a process, which is not trusted. One that it was not asked for is ignored.
    package func answer(_ number: UInt32, _ text: String?, by process: UInt32) {
        guard let (finding, since) = processes[process]?.places[number], finding == .pending else { return }
        let line = text?.oneLine(CallPlace.maximumLength) ?? ""
        processes[process]?.places[number] = (line.isEmpty ? .unknown : .found(line), since)
    }
}
