import BluetoothService
import Foundation

/// Names what a device takes L2CAP channels for. It picks the number itself, and its peers have to be told.
public typealias CBL2CAPPSM = UInt16

/// An L2CAP channel to another device: octets both ways, with neither frames nor a limit (behaviour 8.13).
///
/// Keep it: when the app has let go of it, the channel closes (behaviour 8.7). The streams come unopened. Schedule them in a run loop
/// that runs, set their delegates and open them; or open them and ask `hasBytesAvailable` and `hasSpaceAvailable` now and then,
/// from any thread. A read that finds nothing waits, and so does a write that finds no room.
///
/// In a simulation in virtual time, events come in the order of the simulated app's other callbacks, while the clock stands
/// still: at once where the run loop belongs to the thread that lets time pass, and where it belongs to another thread, by waiting for it
/// while it runs. Nobody waits for a run loop that does not. There reads and writes never wait, since nothing would come meanwhile;
/// they return -1 instead, and the stream stays open.
open class CBL2CAPChannel: NSObject, @unchecked Sendable {
    // Safe: immutable here; the streams share a pipe, which is.
    private let device: CBPeer
    private let input: ChannelInputStream
    private let output: ChannelOutputStream
    private let number: CBL2CAPPSM
    private let pipe: ChannelPipe

    init(_ id: ChannelID, psm: CBL2CAPPSM, peer: CBPeer, link: ManagerLink) {
        pipe = link.channels.pipe(id, link: link)
        device = peer
        number = psm
        input = ChannelInputStream(pipe)
        output = ChannelOutputStream(pipe)
        super.init()
        pipe.begin()
    }

    deinit {
        pipe.letGo()
    }

    /// The device at the other end: a ``CBPeripheral`` where this app has opened the channel, a ``CBCentral`` where it has published
    /// it.
    open var peer: CBPeer! { device }

    /// What comes from the peer.
    open var inputStream: InputStream! { input }

    /// What goes to the peer.
    open var outputStream: OutputStream! { output }

    /// What the channel is for.
    open var psm: CBL2CAPPSM { number }

    // MARK: For other modules of this package

    /// Reads up to `limit` octets; empty at the end, nil when there are none yet, and then `wake` is called when that may have changed.
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

    /// Writes what there is room for, which may be nothing: then `wake` is called when that may have changed.
    package func write(_ octets: Data, orCall wake: @escaping @Sendable () -> Void) throws -> ChannelAttempt {
        if pipe.status(of: .output) == .notOpen { output.open() }
        let attempt = Array(octets).withUnsafeBufferPointer { pipe.write($0, orCall: wake) }
        if case .done(..<0) = attempt { throw pipe.error(of: .output) ?? CBL2CAPChannel.isClosed }
        return attempt
    }

    /// Whoever waits under this number does so no longer.
    package func stopWaiting(_ number: UInt64) { pipe.stopWaiting(number) }

    /// Both streams are closed, and with them the channel.
    package func close() {
        input.close()
        output.close()
    }

    private static var isClosed: any Error { NSError(domain: NSPOSIXErrorDomain, code: Int(EPIPE)) }

    /// Class, peer and PSM.
    open override var description: String {
        "<\(nameAndAddress), peer = \(device.identifier.uuidString), psm = \(number)>"
    }
}

/// What there is to read.
package enum ChannelReading: Sendable {
    /// Octets; none at the end.
    case octets(Data)
    /// Nothing yet; somebody is called when that may have changed, by this number.
    case waiting(UInt64)
}
