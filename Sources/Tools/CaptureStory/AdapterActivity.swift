import BluetoothTypes
import HCI

/// What a host has its controller do besides connections, as far as a verdict needs it.
struct AdapterActivity: Sendable {
    /// A command that the controller has not answered.
    struct Pending: Sendable {
        let opcode: Opcode
        let moment: StoryMoment
    }

    /// A time in which the controller scans or advertises, and the sum of those before.
    struct Spans: Sendable {
        private(set) var first: StoryMoment?
        private(set) var since: Int64?
        private var sum: Int64 = 0

        /// The time up to `now`, in microseconds.
        func total(at now: Int64) -> Int64 { sum &+ max(0, now &- (since ?? now)) }

        mutating func set(_ isOn: Bool, at moment: StoryMoment) {
            if isOn {
                first = first ?? moment
                since = since ?? moment.time
            } else {
                sum = total(at: moment.time)
                since = nil
            }
        }

        /// The controller has refused to begin.
        mutating func cancel() { since = nil }
    }

    private(set) var scanning = Spans()
    private(set) var advertising = Spans()
    /// Whether an advertising set accepts connections.
    private var isConnectable = false
    /// Whether LE Create Connection is not complete.
    var isAttempting = false
    private(set) var pending: Pending?

    mutating func scans(_ isOn: Bool, at moment: StoryMoment) { scanning.set(isOn, at: moment) }

    mutating func advertises(_ isOn: Bool, at moment: StoryMoment) {
        if isConnectable || !isOn { advertising.set(isOn, at: moment) }
    }

    /// Adopts the type of legacy advertising: ADV_IND and ADV_DIRECT_IND are connectable (Core Vol 4 Part E 7.8.5).
    mutating func setLegacy(kind: UInt8?) { isConnectable = [0, 1, 4].contains(kind ?? 0) }

    /// Adopts the properties of an advertising set, whose bit 0 stands for connectable (Core Vol 4 Part E 7.8.53).
    mutating func setExtended(properties: UInt16?) {
        if let properties, properties & 1 == 1 { isConnectable = true }
    }

    mutating func refused(_ opcode: Opcode) {
        switch opcode {
        case LESetScanEnable.opcode, LESetExtendedScanEnable.opcode: scanning.cancel()
        case LESetAdvertisingEnable.opcode, LESetExtendedAdvertisingEnable.opcode: advertising.cancel()
        default: break
        }
    }

    /// What an enabling command is for, if it does enable.
    func purpose(of opcode: Opcode) -> String? {
        switch opcode {
        case LESetScanEnable.opcode, LESetExtendedScanEnable.opcode: scanning.since == nil ? nil : "scanning"
        case LESetAdvertisingEnable.opcode, LESetExtendedAdvertisingEnable.opcode:
            advertising.since == nil ? nil : "advertising"
        default: nil
        }
    }

    /// Waits for the answer to a command, unless an earlier one has none. This command has none if all is well
    /// (Core Vol 4 Part E 7.3.40).
    mutating func wait(for opcode: Opcode, at moment: StoryMoment) {
        guard pending == nil, opcode != HostNumberOfCompletedPackets.opcode else { return }
        pending = Pending(opcode: opcode, moment: moment)
    }

    mutating func answered(_ opcode: Opcode) {
        if pending?.opcode == opcode { pending = nil }
    }

    /// Ends all that a controller does.
    mutating func reset(at moment: StoryMoment) {
        scanning.set(false, at: moment)
        advertising.set(false, at: moment)
        (isAttempting, isConnectable) = (false, false)
    }

    /// Returns the command whose answer has been missing for a while, and waits for no answer any more.
    mutating func giveUp(after silence: Int64, at now: Int64) -> Pending? {
        defer { pending = nil }
        return pending.flatMap { now &- $0.moment.time >= silence ? $0 : nil }
    }
}

/// What has worked in a capture, for the words of its verdict.
struct StoryDeeds: Sendable {
    var reports = 0
    var links = 0
    var advertisements = 0
    var requests = 0
    var values = 0
    var pairings = 0
    /// The first link, and how it ended.
    var first: (connection: Int, beginning: String, end: String)?
    /// The first failure of a connection that a later one has made up for, and how many there were.
    var recovered: (first: StoryFailure, count: Int)?

    /// A number that grows with each thing that a controller does.
    var progress: Int { reports + links + advertisements }

    mutating func recover(_ failures: [StoryFailure]) {
        guard let first = failures.first(where: { $0.weight >= .lost }) else { return }
        recovered = (recovered?.first ?? first, (recovered?.count ?? 0) + failures.count)
    }
}
