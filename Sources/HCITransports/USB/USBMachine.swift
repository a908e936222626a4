import BluetoothTypes
import DequeModule
import HCI

/// A host's side of USB, as a machine: packets to send and what became of transfers go in, transfers to make come out (Core Vol 4 Part B 2).
///
/// Several reads of each kind are under way, so that one is there while another is taken; writes of each pipe go one after the other.
struct USBMachine {
    /// Reads of an endpoint under way at a time.
    static let reads = 3
    /// Packets that may wait for the one before them. The controller is taken for dead when there are more.
    static let maximumUnsent = 64
    /// How often in a row an endpoint may refuse or fail before it is given up.
    static let maximumFailures = 3

    /// What goes in.
    enum Event: Hashable, Sendable {
        /// The endpoints have been taken.
        case opened
        /// The host has a packet for the controller.
        case send(HCIPacket)
        /// A read has come back.
        case read(USBPipe, USBOutcome)
        /// A write has come back.
        case written(USBPipe, USBOutcome)
        /// An endpoint that had refused goes on, or does not.
        case cleared(USBPipe, isDone: Bool)
        /// The line is no longer wanted.
        case close
    }

    /// What comes out.
    enum Action: Hashable, Sendable {
        /// Make room for what comes.
        case read(USBPipe)
        /// Send octets; on endpoint 0, a command.
        case write(USBPipe, [UInt8])
        /// Have the endpoint go on from which this pipe reads.
        case clear(USBPipe)
        /// The host gets this packet.
        case deliver(HCIPacket)
        /// The line is gone.
        case lost(HCITransportError)
        /// Give everything back.
        case finish
    }

    private enum State {
        case closed
        case open(Open)
    }

    /// An endpoint that is read from.
    private struct Input {
        var underWay = 0
        /// Refusals and failures since octets last came.
        var failures = 0
        /// Whether it has refused; it goes on when nothing is under way any more.
        var isHalted = false
    }

    private struct Open {
        var reassembler: USBReassembler
        var inputs: [USBPipe: Input]
        /// The first of each is under way.
        var outputs: [USBPipe: Deque<[UInt8]>] = [:]
    }

    private let isSerialized: Bool
    private var state = State.closed

    init(isSerialized: Bool) { self.isSerialized = isSerialized }

    /// Takes an event, and says what to do.
    mutating func handle(_ event: Event) -> [Action] {
        switch (event, state) {
        case (.opened, .closed): return begin()
        case (_, .closed): return []
        case (.opened, .open): return []
        case (.close, .open):
            state = .closed
            return [.finish]
        case (.send(let packet), .open(var open)): return send(packet, &open)
        case (.read(let pipe, let outcome), .open(var open)): return take(outcome, from: pipe, &open)
        case (.written(let pipe, let outcome), .open(var open)): return settle(outcome, of: pipe, &open)
        case (.cleared(let pipe, let isDone), .open(var open)):
            guard isDone else {
                return fail(.failed(reason: "the controller refuses to be read from; plug it in again"))
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

    /// As many reads as there are to be.
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

    private mutating func take(_ outcome: USBOutcome, from pipe: USBPipe, _ open: inout Open) -> [Action] {
        guard var input = open.inputs[pipe] else { return [] }
        input.underWay -= 1
        var packets: [HCIPacket] = []
        switch outcome {
        case .read(let octets):
            input.failures = 0
            packets = open.reassembler.take(octets, from: pipe)
        case .gone: return fail(.closedByPeer)
        case .stalled where !input.isHalted:
            input.isHalted = true
            input.failures += 1
        // Those behind the first are ended with it.
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
        // Only the other mode has a way for these.
        case (false, _):
            return fail(
                .failed(reason: "packets of type \(packet.kind.rawValue) do not go to this controller over USB")
            )
        }
        let octets = (isSerialized ? [packet.kind.rawValue] : []) + packet.bytes.bytes
        var waiting = open.outputs[pipe] ?? []
        guard waiting.count <= Self.maximumUnsent else {
            return fail(.failed(reason: "the controller takes no more packets"))
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
        case .stalled: "the controller refuses transfers; plug it in again"
        case .timedOut: "the controller takes nothing; plug it in again"
        case .written(let count): "the controller took only \(count) octets of a packet"
        case .failed(let code): "a transfer failed: \(USBCallError(code).words); check the plug"
        case .read, .cancelled, .gone: "a transfer came to nothing"
        }
    }
}
