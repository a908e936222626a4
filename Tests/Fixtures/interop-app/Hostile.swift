import BluetoothService
import BluetoothTypes
import EventLoops
import Foundation
import HostileClients
import ServiceMessages
import ServiceProcess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A hostile process: it performs the steps of ``HostileGrammar`` on the service at HARALD_SERVICE until it is killed
/// or its time is up.
struct Hostile {
    /// The time after which it ends by itself.
    static let maximumTime = Duration.seconds(3 * 3_600)
    /// The pause after each step, so that floods leave processor time to others.
    static let pause = Duration.milliseconds(2)

    private let path: String
    private let random: RandomSource
    private var grammar: HostileGrammar
    private var descriptor: Int32 = -1
    private var isReading = true
    private var parser = FrameParser()

    init(seed: UInt64, path: String) {
        self.path = path
        random = RandomSource(seed: seed)
        grammar = HostileGrammar(name: "hostile \(seed)", random: random)
    }

    mutating func run() {
        signal(SIGPIPE, SIG_IGN)
        let end = ContinuousClock.now + Self.maximumTime
        while ContinuousClock.now < end {
            if descriptor < 0 { connect() }
            perform(grammar.next())
            if isReading { read() }
            usleep(useconds_t(Self.pause / .microseconds(1)))
        }
    }

    private mutating func connect() {
        guard var address = sockaddr_un(path: path) else { exit(64) }
        let made = socket(AF_UNIX, 1, 0)
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(made, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        (parser, isReading) = (FrameParser(), true)
        guard isConnected else {
            close(made)
            usleep(100_000)
            return
        }
        descriptor = made
    }

    private mutating func disconnect() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        grammar.disconnected()
    }

    private mutating func perform(_ step: HostileGrammar.Step) {
        switch step {
        case .send(let messages): for message in messages { write(FrameParser.frame(message).bytes) }
        case .sendRaw(let octets): write(octets)
        case .wait(let time): usleep(useconds_t(time / .microseconds(1)))
        case .read(let isReading): self.isReading = isReading
        case .reconnect: disconnect()
        }
    }

    /// Sends as much as the service accepts. If the service exerts backpressure, a partial message remains.
    private mutating func write(_ octets: [UInt8]) {
        var rest = octets[...]
        var attempts = 0
        while descriptor >= 0, !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN, attempts < 20 {
                attempts += 1
                if isReading { read() }
                usleep(10_000)
            } else {
                return disconnect()
            }
        }
    }

    private mutating func read() {
        var octets = [UInt8](repeating: 0, count: 65_536)
        while descriptor >= 0 {
            let count = recv(descriptor, &octets, octets.count, Int32(MSG_DONTWAIT))
            if count == 0 || (count < 0 && errno != EAGAIN) { return disconnect() }
            guard count > 0, let messages = try? parser.parse(PacketBuffer(Array(octets[..<count]))) else { return }
            for message in messages { learn(message) }
        }
    }

    private mutating func learn(_ octets: PacketBuffer) {
        guard case .event(_, let event) = try? ServiceMessage(reading: octets), let peer = event.peer else { return }
        grammar.learn(withUnsafeBytes(of: peer.uuid) { Array($0) })
    }
}
