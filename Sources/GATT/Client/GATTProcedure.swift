import ATT
import BluetoothTypes

/// The next step of a procedure.
enum GATTStep<Output> {
    /// Send a request and pass its response back.
    case request(ATTPDU)
    /// The procedure has succeeded.
    case finished(Output)
    /// The procedure has failed.
    case failed(GATTError)

    static func fault(_ fault: GATTServerFault) -> GATTStep { .failed(.server(fault)) }
}

/// The restrictions on procedures running at the same time on other bearers of the link.
enum GATTIsolation {
    /// The procedure may run beside any other.
    case none
    /// No other procedure that prepares writes: a client has one queue of them for all its bearers (Core Vol 3 Part F
    /// 3.4.6).
    case preparesWrites
    /// No other request: all earlier ones are answered, and none is sent meanwhile (Vol 3 Part G 2.5.2.1).
    case alone
}

/// A client procedure as a state machine without side effects, which handles one response at a time (Core Vol 3 Part G
/// 4).
///
/// Every request of a search starts after the last handle found, so that the procedure ends whatever the server answers
/// (AB-A07).
protocol GATTProcedure {
    associatedtype Output

    /// Whether the procedure leaves the server unchanged, so that it may be restarted after its bearer was lost.
    static var onlyReads: Bool { get }
    /// The restrictions on other procedures, for a bearer with the given MTU.
    func isolation(mtu: Int) -> GATTIsolation
    /// Returns the first step. `mtu` is the bearer's current MTU.
    mutating func begin(mtu: Int) -> GATTStep<Output>
    /// Returns the step after a response.
    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<Output>
    /// Returns the step after an error response.
    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<Output>
}

extension GATTProcedure {
    static var onlyReads: Bool { false }

    func isolation(mtu: Int) -> GATTIsolation { .none }

    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<Output> { .failed(.att(error)) }
}

/// The rest of a handle range that is still to be searched.
struct SearchRange {
    private(set) var start: UInt16
    let end: UInt16
    private(set) var isDone = false

    init(_ range: ClosedRange<UInt16>) {
        start = range.lowerBound
        end = range.upperBound
    }

    var handles: ATTHandleRange { ATTHandleRange(start, end) }

    /// Advances past an attribute or group. Returns a fault if it lies outside the rest of the range.
    mutating func pass(_ handle: UInt16, through last: UInt16? = nil) -> GATTServerFault? {
        let last = last ?? handle
        guard !isDone, handle >= start, handle <= end else { return .handleOutOfOrder(handle) }
        guard last >= handle else { return .endBeforeStart(handle) }
        if last >= end { isDone = true } else { start = last + 1 }
        return nil
    }
}

extension BluetoothUUID {
    /// Creates the UUID at the end of a declaration, of two or sixteen octets; nil for any other length.
    init?(declared octets: PacketBuffer) {
        guard octets.count == 2 || octets.count == 16 else { return nil }
        self.init(littleEndian: octets)
    }
}
