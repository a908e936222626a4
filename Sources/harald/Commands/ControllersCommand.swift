import ArgumentParser
import BluetoothTypes
import EventLoops
import Foundation
import HCI
import HCIHost
import HCITransports
import LinkLayer
import Radio

struct ControllersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "controllers",
        abstract: "The Bluetooth adapters of this machine, or virtual controllers to work with.",
        discussion: """
            Lists the adapters: number and address, each of which --controller takes, so as where an adapter is plugged in; what it \
            is; and who has it. With --listen: virtual controllers over H4/TCP, one for each connection, all on one radio, until \
            interrupted. A connection gets the controller with the lowest number that is free, and the number is the address: who comes back \
            alone is who it was, and finds its bonds again. HCI packets are in controller-NUMBER.btsnoop, those of later \
            connections in controller-NUMBER.2.btsnoop and so on.
            """
    )

    @Option(help: "Offer virtual controllers on this port of the loopback interface; 0 lets the system choose.")
    var listen: UInt16?

    @Flag(help: "Print the list as JSON, for programs: its fields keep their names.")
    var json = false

    @Option(help: "What the controllers' randomness follows from; without it, from the system.")
    var seed: UInt64?

    @Option(help: "Write the HCI packets of each controller to a btsnoop file in this folder.")
    var capture: String?

    func run() throws {
        do throws(ToolError) {
            if let listen { try offer(at: Int(listen)) } else { try AdapterList(of: KernelAdapters()).show(json: json) }
        } catch {
            throw error.report()
        }
    }

    private func offer(at port: Int) throws(ToolError) {
        let outcome = Outcome()
        outcome.finishOnInterrupt()
        let loop = NIOEventLoop()
        let (seed, folder) = (seed, capture)
        let offer = loop.make {
            let random = seed.map { RandomSource(seed: $0) } ?? RandomSource()
            return ControllerOffer(loop: loop, random: random, captureFolder: folder)
        }
        offer.with { offer in
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

    private func accept(_ line: any HCITransport) {
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
