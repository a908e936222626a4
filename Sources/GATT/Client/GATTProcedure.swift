import ATT
import BluetoothTypes

/// What a procedure wants next.
enum GATTStep<Output> {
    /// A request is to be sent; its response comes back.
    case request(ATTPDU)
    /// It is over.
    case finished(Output)
    /// It failed.
    case failed(GATTError)

    static func fault(_ fault: GATTServerFault) -> GATTStep { .failed(.server(fault)) }
}

/// What a procedure cannot bear beside it on another bearer of the same link.
enum GATTIsolation {
    /// It minds nothing.
    case none
    /// Another one that prepares writes: a client has one queue of them, whatever bearers (Core Vol 3 Part F 3.4.6).
    case preparesWrites
    /// Anything: all requests are to be answered before it, and none is sent meanwhile (Vol 3 Part G 2.5.2.1).
    case alone
}

/// A procedure of the client as a machine: it sees one response at a time and does nothing itself (Core Vol 3 Part G
/// 4). Every request of a search begins behind the last handle that was seen, so that each ends whatever a server
/// answers (AB-A07).
protocol GATTProcedure {
    associatedtype Output

    /// Whether it changes nothing at the server, so that it may be begun anew when its bearer is lost under way.
    static var onlyReads: Bool { get }
    /// What it cannot bear beside it, on a bearer with an MTU.
    func isolation(mtu: Int) -> GATTIsolation
    /// The first step. `mtu` is that of the bearer at this moment.
    mutating func begin(mtu: Int) -> GATTStep<Output>
    /// The step after a response.
    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<Output>
    /// The step after an error response.
    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<Output>
}

extension GATTProcedure {
    static var onlyReads: Bool { false }

    func isolation(mtu: Int) -> GATTIsolation { .none }

    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<Output> { .failed(.att(error)) }
}

/// The part of a range of handles that a search has not seen yet.
struct SearchRange {
    private(set) var start: UInt16
    let end: UInt16
    private(set) var isDone = false

    init(_ range: ClosedRange<UInt16>) {
        start = range.lowerBound
        end = range.upperBound
    }

    var handles: ATTHandleRange { ATTHandleRange(start, end) }

    /// Takes note of an attribute, or of a group, that was found; the fault if it is not in what was left.
    mutating func pass(_ handle: UInt16, through last: UInt16? = nil) -> GATTServerFault? {
        let last = last ?? handle
        guard !isDone, handle >= start, handle <= end else { return .handleOutOfOrder(handle) }
        guard last >= handle else { return .endBeforeStart(handle) }
        if last >= end { isDone = true } else { start = last + 1 }
        return nil
    }
}

extension BluetoothUUID {
    /// Reads the UUID at the end of a declaration: two or sixteen octets.
    init?(declared octets: PacketBuffer) {
        guard octets.count == 2 || octets.count == 16 else { return nil }
        self.init(littleEndian: octets)
    }
}
