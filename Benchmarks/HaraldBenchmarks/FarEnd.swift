import BluetoothTypes
import EventLoops
import Foundation
import HCI
import HCITransports
import LinkLayer
import ServiceProcess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The process at the other end of a measured transport: this program with a controller that also speaks ``LineTalk``.
/// It prints its address on standard output, and runs until it is ended.
enum FarEnd {
    /// The first argument of such a process.
    static let argument = "--far-end"

    /// The interface that it provides.
    enum Way: String {
        case tcp, unix, h4, h5, adapter, dongle
    }

    static func run(_ arguments: [String]) {
        guard let way = arguments.first.flatMap({ Way(rawValue: $0) }) else { return }
        let loop = NIOEventLoop()
        switch way {
        case .unix: offerSocket(arguments[1], loop)
        case .tcp:
            loop.submitAndWait {
                TCPServer.listen(port: 0, loop: loop, onConnection: { TalkingController.serve($0, loop) }) {
                    if case .success(let server) = $0 { say("tcp:127.0.0.1:\(server.port)") }
                }
            }
        case .h4, .h5: offerTerminal(way == .h5, loop)
        case .adapter: offerAdapter(loop)
        case .dongle: offerDongle(loop)
        }
        while readLine() != nil {}
    }

    private static func offerSocket(_ path: String, _ loop: NIOEventLoop) {
        guard let socket = try? ListeningSocket(path: path, mode: 0o600, group: nil) else { return }
        withExtendedLifetime(socket) {
            listen(socket.descriptor, 1)
            say("unix:\(path)")
            var ready = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&ready, 1, -1)
            attach(accept(socket.descriptor, nil, nil), loop) { H4Transport($0) }
        }
    }

    private static func offerTerminal(_ isThreeWire: Bool, _ loop: NIOEventLoop) {
        guard let terminal = PseudoTerminal() else { return }
        attach(terminal.take(), loop) { line in
            if isThreeWire { return ThreeWireTransport(line, waitsForPeer: true, loop: loop) }
            return H4Transport(line)
        }
        say("serial:\(terminal.path),115200\(isThreeWire ? ",h5" : "")")
        while readLine() != nil {}
        withExtendedLifetime(terminal) {}
    }

    private static func offerAdapter(_ loop: NIOEventLoop) {
        guard let made = try? VirtualAdapter.make() else { return say("none") }
        loop.submitAndWait {
            UserChannelTransport.attach(
                made.descriptor,
                place: "measured",
                as: .controller,
                calls: LinuxCalls(ofDevice: true),
                loop: loop
            ) { if case .success(let line) = $0 { TalkingController.serve(line, loop) } }
        }
        kernelBegins()
        say("hci\(made.number)")
    }

    private static func offerDongle(_ loop: NIOEventLoop) {
        guard let socket = try? VirtualPort.plug() else { return say("none") }
        attach(socket, loop) { DongleTransport($0, loop: loop) }
        kernelBegins()
        say("usb")
    }

    /// The kernel initialises the new controller, which takes long in an emulated machine. No program can open it
    /// meanwhile.
    private static func kernelBegins() { Thread.sleep(forTimeInterval: 10) }

    private static func attach(
        _ descriptor: Int32,
        _ loop: NIOEventLoop,
        _ make: @escaping @Sendable (ChannelLine) -> any HCITransport
    ) {
        loop.submitAndWait {
            ChannelLine.device(descriptor, place: "measured", loop: loop) {
                if case .success(let line) = $0 { TalkingController.serve(make(line), loop) }
            }
        }
    }

    private static func say(_ text: String) {
        FileHandle.standardOutput.write(Data("\(text)\n".utf8))
    }
}

/// A transport that handles the packets of the measurement itself, and forwards the rest to a virtual controller, so
/// that a kernel can initialise it.
private final class TalkingController: HCITransport {
    // Safe: private, kept until the process ends, and accessed only on its loop.
    nonisolated(unsafe) private static var served: [VirtualController] = []

    var onReceive: ((HCIPacket) -> Void)?
    var onClose: ((HCITransportError) -> Void)?
    private let line: any HCITransport
    private var received = 0
    private var (left, room) = (0, 0)

    static func serve(_ line: any HCITransport, _ loop: NIOEventLoop) {
        let talking = TalkingController(line)
        served.append(
            VirtualController(
                transport: talking,
                node: Radio(loop: loop, random: RandomSource(seed: 1)).add(at: Position(x: 0, y: 0)),
                loop: loop,
                random: RandomSource(seed: 2),
                configuration: .init(publicAddress: .init(0x0248_5243_0001, kind: .publicDevice))
            )
        )
    }

    private init(_ line: any HCITransport) {
        self.line = line
        line.onReceive = { [unowned self] in receive($0) }
        line.onClose = { [unowned self] in onClose?($0) }
    }

    func send(_ packet: HCIPacket) { line.send(packet) }
    func close() { line.close() }

    private func receive(_ packet: HCIPacket) {
        if LineTalk.isData(packet) {
            received += 1
            if received.isMultiple(of: LineTalk.portion) { line.send(LineTalk.acknowledgement) }
        } else if let (command, count) = LineTalk.read(packet) {
            perform(command, count)
        } else {
            onReceive?(packet)
        }
    }

    private func perform(_ command: LineTalk.Command, _ count: Int) {
        switch command {
        case .ping: line.send(LineTalk.answer)
        case .flood: (left, room) = (count, LineTalk.window)
        case .more: room += LineTalk.portion
        }
        while left > 0, room > 0 {
            line.send(LineTalk.data)
            (left, room) = (left - 1, room - 1)
        }
    }
}
