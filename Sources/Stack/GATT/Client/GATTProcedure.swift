import ATT
import BluetoothTypes

/// The next step of a procedure.
enum GATTStep<Output> {
    /// Send a request and pass its response back.
    case request(ATTPDU)
    case finished(Output)
    case failed(GATTError)

    static func fault(_ fault: GATTServerFault) -> GATTStep { .failed(.server(fault)) }
}

/// The restrictions on procedures running at the same time on other bearers of the link.
enum GATTIsolation {
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
/// (AB-A07). Attributes that break a rule are left out, shortened or kept, and become ``flaws`` (AB-A08).
protocol GATTProcedure {
    associatedtype Output

    /// Whether the procedure leaves the server unchanged, so that it may be restarted after its bearer was lost.
    static var onlyReads: Bool { get }
    /// The restrictions on other procedures, for a bearer with the given MTU.
    func isolation(mtu: Int) -> GATTIsolation
    /// Returns the first step. `mtu` is the bearer's current MTU.
    mutating func begin(mtu: Int) -> GATTStep<Output>
    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<Output>
    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<Output>
    /// The rules that the server's table breaks, as far as the procedure has found and worked around them.
    var flaws: TableFlaws { get }
}

extension GATTProcedure {
    static var onlyReads: Bool { false }

    var flaws: TableFlaws { TableFlaws() }

    func isolation(mtu: Int) -> GATTIsolation { .none }

    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<Output> { .failed(.att(error)) }
}

/// The rest of a handle range that is still to be searched.
struct SearchRange {
    private(set) var start: UInt16
    let end: UInt16
    private(set) var isDone = false
    /// The last attribute or group of the present response, by its first handle.
    private var last: (first: UInt16, last: UInt16)?
    /// An attribute of the present response that lies outside.
    private var stray: UInt16 = 0

    init(_ range: ClosedRange<UInt16>) {
        start = range.lowerBound
        end = range.upperBound
    }

    var handles: ATTHandleRange { ATTHandleRange(start, end) }

    /// Passes an attribute or a group of the present response. Returns false if it lies outside of the range's rest.
    mutating func pass(_ handle: UInt16, through last: UInt16? = nil) -> Bool {
        guard !isDone, handle >= start, handle <= end else {
            stray = handle
            return false
        }
        if handle >= self.last?.first ?? 0 { self.last = (handle, max(handle, last ?? handle)) }
        return true
    }

    /// Ends the present response: the rest begins behind its last attribute or group. Returns a fault if there is none,
    /// because the next request would be the same (AB-A07).
    mutating func endResponse() -> GATTServerFault? {
        guard let last else { return .noProgress(at: stray) }
        self.last = nil
        if last.last >= end { isDone = true } else { start = last.last + 1 }
        return nil
    }
}
