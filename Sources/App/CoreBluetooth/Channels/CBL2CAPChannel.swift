import Foundation
import ServiceMessages

/// A protocol/service multiplexer (PSM): the number on which a device accepts L2CAP channels.
///
/// The system of the accepting device selects it, from 0x0080 to 0x00FF (behaviours 8.1, 8.2). The app has to pass it
/// to its peers (behaviour 8.3).
public typealias CBL2CAPPSM = UInt16

/// An L2CAP channel to another device: a stream of octets in each direction, without message boundaries or a limit on
/// size (behaviour 8.13).
///
/// Keep the channel: when the app releases it, it closes (behaviour 8.7). The streams are not open yet. Either schedule
/// them in a run loop that runs, set their delegates and open them; or open them and poll `hasBytesAvailable` and
/// `hasSpaceAvailable`, from any thread. A read blocks until there are octets, and a write until there is room
/// (behaviour 8.6). With CoreBluetoothExtras, `octets` and `write(_:)` need no run loop (behaviour 15.23).
///
/// In a simulation in virtual time, stream events are ordered with the simulated app's other callbacks, and the clock
/// stands still while they run. If the run loop belongs to the thread that advances the time, its events are delivered
/// at once. If it belongs to another thread, the simulation waits for that thread as long as it runs the run loop.
/// Reads and writes never block in virtual time, since nothing could arrive meanwhile. They return -1 instead, and the
/// stream stays open.
open class CBL2CAPChannel: NSObject, @unchecked Sendable {
    // Safe: immutable here. The streams share a pipe, which is thread-safe.
    private let device: CBPeer
    private let input: ChannelInputStream
    private let output: ChannelOutputStream
    private let number: CBL2CAPPSM
    private let pipe: ChannelPipe

    init(_ id: ChannelID, psm: CBL2CAPPSM, peer: CBPeer, link: ManagerLink) {
        pipe = ChannelPipe(id, link: link)
        link.channels.add(pipe, as: id)
        device = peer
        number = psm
        input = ChannelInputStream(pipe)
        output = ChannelOutputStream(pipe)
        super.init()
        pipe.begin()
    }

    deinit {
        pipe.release()
    }

    /// The device at the other end: a ``CBPeripheral`` if this app has opened the channel, a ``CBCentral`` if this app
    /// has published it.
    open var peer: CBPeer! { device }

    /// The octets from the peer. The same object each time; not open at first (behaviour 8.6).
    open var inputStream: InputStream! { input }

    /// The octets to the peer. The same object each time; not open at first (behaviour 8.6).
    ///
    /// Octets written before both streams are closed are still sent, for up to 10 s (behaviour 8.6).
    open var outputStream: OutputStream! { output }

    /// The PSM that the channel was opened on.
    open var psm: CBL2CAPPSM { number }

    // MARK: Access for other modules

    /// Reads up to `limit` octets.
    ///
    /// - Returns: The octets, which are empty at the end of the channel. If there are none yet, the number of a wait:
    ///   then `wake` is called once that may have changed.
    /// - Throws: The error that ended the channel.
    package func read(upTo limit: Int, orCall wake: @escaping @Sendable () -> Void) throws -> ChannelReading {
        if pipe.status(of: .input) == .notOpen { input.open() }
        var attempt = ChannelAttempt.done(0)
        let octets = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            attempt = pipe.read(into: buffer, orCall: wake)
            if case .done(let read) = attempt { count = max(read, 0) }
        }
        switch attempt {
        case .done(..<0): throw pipe.error(of: .input) ?? CBL2CAPChannel.isClosed
        case .done: return .octets(Data(octets))
        case .waiting(let number): return .waiting(number)
        }
    }

    /// Writes as many octets as there is room for.
    ///
    /// - Returns: The number of octets. If there is no room, the number of a wait: then `wake` is called once that may
    ///   have changed.
    /// - Throws: The error that ended the channel.
    package func write(_ octets: Data, orCall wake: @escaping @Sendable () -> Void) throws -> ChannelAttempt {
        if pipe.status(of: .output) == .notOpen { output.open() }
        let attempt = Array(octets).withUnsafeBufferPointer { pipe.write($0, orCall: wake) }
        if case .done(..<0) = attempt { throw pipe.error(of: .output) ?? CBL2CAPChannel.isClosed }
        return attempt
    }

    /// Cancels the wait with this number.
    package func stopWaiting(_ number: UInt64) { pipe.stopWaiting(number) }

    /// Closes both streams, and with them the channel.
    package func close() {
        input.close()
        output.close()
    }

    private static var isClosed: any Error { NSError(domain: NSPOSIXErrorDomain, code: Int(EPIPE)) }

    /// The class, peer and PSM.
    open override var description: String {
        "<\(nameAndAddress), peer = \(device.identifier.uuidString), psm = \(number)>"
    }
}

extension CBL2CAPChannel: _CVarArgObject {
    /// The description as an argument for `%@`.
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
    /// The description in the layout of a variadic argument.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

/// The outcome of a read.
package enum ChannelReading: Sendable {
    /// The octets. They are empty at the end of the channel.
    case octets(Data)
    /// No octets yet. A wait with this number has begun.
    case waiting(UInt64)
}
