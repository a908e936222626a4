import BluetoothTypes
import DequeModule
import HCI

/// The host's side of USB as a state machine: packets to send and results of transfers go in, transfers to submit come
/// out (Core Vol 4 Part B 2).
///
/// Several reads of each endpoint are pending, so that one is ready while another is processed. Writes to each pipe are
/// sequential.
struct USBMachine {
    /// The number of pending reads per endpoint.
    static let reads = 3
    /// The maximum number of packets queued behind a pending write. Beyond this, the controller is considered dead.
    static let maximumUnsent = 64
    /// The number of consecutive stalls and failures of an endpoint that are tolerated.
    static let maximumFailures = 3

    enum Event: Hashable, Sendable {
        /// The endpoints have been claimed.
        case opened
        /// The host sends a packet to the controller.
        case send(HCIPacket)
        /// A read has completed.
        case read(USBPipe, USBOutcome)
        /// A write has completed.
        case written(USBPipe, USBOutcome)
        /// An attempt to clear the halt of an endpoint has completed.
        case cleared(USBPipe, isDone: Bool)
        /// The transport is being closed.
        case close
    }

    enum Action: Hashable, Sendable {
        /// Submit a read on this pipe.
        case read(USBPipe)
        /// Submit a write. On the control pipe, this is a command.
        case write(USBPipe, [UInt8])
        /// Clear the halt of the endpoint that this pipe reads from.
        case clear(USBPipe)
        /// Pass a packet to the host.
        case deliver(HCIPacket)
        /// Report that the transport has failed.
        case lost(HCITransportError)
        /// Return the device to the kernel.
        case finish
    }

    private enum State {
        case closed
        case open(Open)
    }

    /// The state of an endpoint that is read from.
    private struct Input {
        var underWay = 0
        /// Consecutive stalls and failures since data last arrived.
        var failures = 0
        /// Whether the endpoint has stalled. Its halt is cleared once no read is pending.
        var isHalted = false
    }

    private struct Open {
        var reassembler: USBReassembler
        var inputs: [USBPipe: Input]
        /// The queued packets of each pipe. The first of each is being written.
        var outputs: [USBPipe: Deque<[UInt8]>] = [:]
    }

    private let isSerialized: Bool
    private var state = State.closed

    init(isSerialized: Bool) { self.isSerialized = isSerialized }

    /// Handles an event and returns what to do.
    mutating func handle(_ event: Event) -> [Action] {
        switch (event, state) {
        case (.opened, .closed): return begin()
        case (_, .closed): return []
        case (.opened, .open): return []
        case (.close, .open):
            state = .closed
            return [.finish]
        case (.send(let packet), .open(var open)): return send(packet, &open)
        case (.read(let pipe, let outcome), .open(var open)): return handle(outcome, from: pipe, &open)
        case (.written(let pipe, let outcome), .open(var open)): return settle(outcome, of: pipe, &open)
        case (.cleared(let pipe, let isDone), .open(var open)):
            guard isDone else {
                return fail(.failed(reason: "the controller's endpoint remains stalled; plug it in again"))
            }
            open.inputs[pipe]?.isHalted = false
            return fill(pipe, &open)
        }
    }

    private mutating func begin() -> [Action] {
        let pipes: [USBPipe] = isSerialized ? [.bulk] : [.interrupt, .bulk]
        var open = Open(
            reassembler: USBReassembler(isSerialized: isSerialized, isResynchronizing: true),
            inputs: Dictionary(uniqueKeysWithValues: pipes.map { ($0, Input()) })
        )
        return pipes.flatMap { fill($0, &open) }
    }

    private mutating func fail(_ error: HCITransportError) -> [Action] {
        state = .closed
        return [.finish, .lost(error)]
    }

    // MARK: Reading

    /// Submits reads until ``reads`` of them are pending.
    private mutating func fill(_ pipe: USBPipe, _ open: inout Open) -> [Action] {
        guard var input = open.inputs[pipe], !input.isHalted else { return keep(open, []) }
        let missing = Self.reads - input.underWay
        input.underWay = Self.reads
        open.inputs[pipe] = input
        return keep(open, [Action](repeating: .read(pipe), count: missing))
    }

    private mutating func keep(_ open: Open, _ actions: [Action]) -> [Action] {
        state = .open(open)
        return actions
    }

    private mutating func handle(_ outcome: USBOutcome, from pipe: USBPipe, _ open: inout Open) -> [Action] {
        guard var input = open.inputs[pipe] else { return [] }
        input.underWay -= 1
        var packets: [HCIPacket] = []
        switch outcome {
        case .read(let octets):
            input.failures = 0
            packets = open.reassembler.reassemble(octets, from: pipe)
        case .gone: return fail(.closedByPeer)
        case .stalled where !input.isHalted:
            input.isHalted = true
            input.failures += 1
        // Reads queued behind a stalled one end with it.
        case .stalled, .cancelled, .timedOut, .written: break
        case .failed: input.failures += 1
        }
        open.inputs[pipe] = input
        if let failure = open.reassembler.failure {
            state = .closed
            return packets.map(Action.deliver) + [.finish, .lost(.malformed(failure))]
        }
        guard input.failures <= Self.maximumFailures else { return fail(.failed(reason: Self.words(outcome))) }
        if input.isHalted { return keep(open, input.underWay == 0 ? [.clear(pipe)] : []) }
        return fill(pipe, &open) + packets.map(Action.deliver)
    }

    // MARK: Writing

    private mutating func send(_ packet: HCIPacket, _ open: inout Open) -> [Action] {
        let pipe: USBPipe
        switch (isSerialized, packet.kind) {
        case (true, _), (false, .acl): pipe = .bulk
        case (false, .command): pipe = .control
        // These packet types are only possible in Bulk Serialization Mode.
        case (false, _):
            return fail(
                .failed(reason: "this USB controller does not accept packets of type \(packet.kind.rawValue)")
            )
        }
        let octets = (isSerialized ? [packet.kind.rawValue] : []) + packet.bytes.bytes
        var waiting = open.outputs[pipe] ?? []
        guard waiting.count <= Self.maximumUnsent else {
            return fail(.failed(reason: "the controller does not accept any more packets"))
        }
        waiting.append(octets)
        open.outputs[pipe] = waiting
        return keep(open, waiting.count == 1 ? [.write(pipe, octets)] : [])
    }

    private mutating func settle(_ outcome: USBOutcome, of pipe: USBPipe, _ open: inout Open) -> [Action] {
        guard let octets = open.outputs[pipe]?.popFirst() else { return [] }
        switch outcome {
        case .written(octets.count): return keep(open, (open.outputs[pipe]?.first).map { [.write(pipe, $0)] } ?? [])
        case .gone: return fail(.closedByPeer)
        default: return fail(.failed(reason: Self.words(outcome)))
        }
    }

    private static func words(_ outcome: USBOutcome) -> String {
        switch outcome {
        case .stalled: "the controller stalled a transfer; plug it in again"
        case .timedOut: "the controller does not accept data; plug it in again"
        case .written(let count): "the controller accepted only \(count) octets of a packet"
        case .failed(let code): "a transfer failed: \(USBCallError(code).words); check the connection"
        case .read, .cancelled, .gone: "a transfer ended unexpectedly"
        }
    }
}
