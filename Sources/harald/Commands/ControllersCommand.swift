import ArgumentParser
import BluetoothTypes
import EventLoops
import Foundation
import HCI
import HCIHost
import HCITransports
import LinkLayer
import Radio

/// How a controller at a serial port speaks.
enum SerialProtocol: String, ExpressibleByArgument, CaseIterable, Sendable {
    case h4, h5
}

struct ControllersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "controllers",
        abstract: "The Bluetooth adapters of this machine, or virtual controllers to work with.",
        discussion: """
            Lists the adapters: number and address, each of which --controller takes, so as where an adapter is plugged in; what it \
            is; and who has it. With --listen: virtual controllers over H4/TCP, one for each connection, all on one radio, until \
            interrupted. A connection gets the controller with the lowest number that is free, and the number is the address: who comes back \
            alone is who it was, and finds its bonds again. HCI packets are in controller-NUMBER.btsnoop, those of later \
            connections in controller-NUMBER.2.btsnoop and so on. With --terminal: a virtual controller that looks like one at a serial \
            port, on the same radio.
            """
    )

    @Option(help: "Offer virtual controllers on this port of the loopback interface; 0 lets the system choose.")
    var listen: UInt16?

    @Option(
        help:
            "Offer a virtual controller behind a terminal, which takes the place of a serial port, by h4 or h5; once for each."
    )
    var terminal: [SerialProtocol] = []

    @Flag(help: "Print the list as JSON, for programs: its fields keep their names.")
    var json = false

    @Option(help: "What the controllers' randomness follows from; without it, from the system.")
    var seed: UInt64?

    @Option(help: "Write the HCI packets of each controller to a btsnoop file in this folder.")
    var capture: String?

    func run() throws {
        do throws(ToolError) {
            guard listen == nil, terminal.isEmpty else { return try offer() }
            try AdapterList(of: KernelAdapters()).show(json: json)
        } catch {
            throw error.report()
        }
    }

    private func offer() throws(ToolError) {
        let outcome = Outcome()
        outcome.finishOnInterrupt()
        let loop = NIOEventLoop()
        let (seed, folder, terminals) = (seed, capture, terminal)
        let port = listen.map { Int($0) }
        let offer = loop.make {
            let random = seed.map { RandomSource(seed: $0) } ?? RandomSource()
            return ControllerOffer(loop: loop, random: random, captureFolder: folder)
        }
        offer.with { offer in
            for kind in terminals {
                guard offer.offerTerminal(kind) else {
                    return outcome.finish(.failure(.incomplete("this machine has no more terminals; end who has them")))
                }
            }
            guard let port else { return }
            offer.listen(port: port) { result in
                switch result {
                case .success(let port): Console.line("listening on tcp:127.0.0.1:\(port)")
                case .failure(let error): outcome.finish(.failure(error))
                }
            }
        }
        try outcome.wait()
    }
}

/// The numbers of controllers, which are their addresses. Bonds belong to an address: who comes back has to find his, and so a
/// number that is given back is given out before a new one.
struct ControllerNumbers {
    /// How often each number has been given out.
    private var uses: [Int] = []
    private var taken: Set<UInt64> = []

    /// The lowest free number, from 1, and how often it has been given out by now.
    mutating func take() -> (number: UInt64, use: Int) {
        let index = uses.indices.first { !taken.contains(UInt64($0) + 1) } ?? uses.endIndex
        if index == uses.endIndex { uses.append(0) }
        uses[index] += 1
        taken.insert(UInt64(index) + 1)
        return (UInt64(index) + 1, uses[index])
    }

    mutating func giveBack(_ number: UInt64) {
        taken.remove(number)
    }
}

/// A virtual controller for each connection. Lives on its loop.
final class ControllerOffer {
    private let loop: NIOEventLoop
    private let random: RandomSource
    private let radio: Radio
    private let captureFolder: String?
    private var server: TCPServer?
    private var controllers: [UInt64: VirtualController] = [:]
    private var numbers = ControllerNumbers()

    init(loop: NIOEventLoop, random: RandomSource, captureFolder: String?) {
        self.loop = loop
        self.random = random
        self.captureFolder = captureFolder
        radio = Radio(loop: loop, random: random.split(0))
    }

    func listen(port: Int, completion: @escaping (Result<Int, ToolError>) -> Void) {
        TCPServer.listen(port: port, loop: loop, onConnection: { [weak self] in self?.accept($0) }) { [weak self] in
            switch $0 {
            case .success(let server):
                self?.server = server
                completion(.success(server.port))
            case .failure(let error):
                completion(.failure(.incomplete("cannot listen on port \(port): \(error); choose another")))
            }
        }
    }

    /// A controller at the end of a terminal, for as long as the offer lasts. Whoever opens the terminal after another finds it again.
    func offerTerminal(_ kind: SerialProtocol) -> Bool {
        guard let terminal = PseudoTerminal() else { return false }
        let options = SerialOptions(path: terminal.path, rate: 115_200, isThreeWire: kind == .h5)
        Console.line("listening on \(ControllerAddress.serial(options))")
        begin(terminal, kind)
        return true
    }

    private func begin(_ terminal: PseudoTerminal, _ kind: SerialProtocol) {
        ChannelLine.device(terminal.take(), place: terminal.path, loop: loop) { [weak self] result in
            guard let self, case .success(let line) = result else { return }
            let transport: any HCITransport =
                kind == .h5 ? ThreeWireTransport(line, waitsForPeer: true, loop: loop) : H4Transport(line)
            accept(transport) { [weak self] in self?.begin(terminal, kind) }
        }
    }

    private func accept(_ line: any HCITransport, whenGone: @escaping () -> Void = {}) {
        let (number, use) = numbers.take()
        Console.line("controller \(number) connected")
        let transport = snooping(line, number: number, use: use)
        controllers[number] = VirtualController(
            transport: transport,
            // Within a room of each other.
            node: radio.add(at: Position(x: Double(number % 8), y: Double(number / 8 % 8))),
            loop: loop,
            random: random.split(number),
            configuration: .init(publicAddress: .init(0x0248_5243_0000 + number, kind: .publicDevice))
        )
        let controllerClosed = transport.onClose
        transport.onClose = { [weak self] error in
            controllerClosed?(error)
            self?.controllers[number] = nil
            self?.numbers.giveBack(number)
            Console.line("controller \(number) disconnected")
            whenGone()
        }
    }

    private func snooping(_ line: any HCITransport, number: UInt64, use: Int) -> any HCITransport {
        guard let captureFolder else { return line }
        let name = use == 1 ? "controller-\(number)" : "controller-\(number).\(use)"
        let path = (captureFolder as NSString).appendingPathComponent("\(name).btsnoop")
        do throws(ToolError) {
            return SnoopingTransport.toFile(try CaptureFile.named(path), line, end: .controller, loop: loop)
        } catch {
            _ = error.report()
            return line
        }
    }
}
