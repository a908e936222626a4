import ArgumentParser
import EventLoops
import Foundation
import HCI
import HCITransports

/// The transport protocol of a controller on a serial port.
enum SerialProtocol: String, ExpressibleByArgument, CaseIterable, Sendable {
    case h4, h5
}

struct ControllersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "controllers",
        abstract: "The Bluetooth adapters of this machine, or virtual controllers to work with.",
        discussion: """
            Lists the adapters: number and address, each of which --controller takes, so as where an adapter is plugged in; what it \
            is; and who has it; and controllers on USB that the kernel has no driver for. With --listen: virtual controllers over H4/TCP, one for each connection, all on one radio, until \
            interrupted. A connection gets the controller with the lowest number that is free, and the number is the address: who comes back \
            alone is who it was, and finds its bonds again. HCI packets are in controller-NUMBER.btsnoop, those of later \
            connections in controller-NUMBER.2.btsnoop and so on. With --terminal: a virtual controller that looks like one at a serial \
            port, on the same radio. With --dongle: one that this machine's kernel takes for a USB dongle, for BlueZ or whoever speaks to \
            adapters; it needs the module vhci-hcd, and root. With --vhci: the same without USB, by the module hci_vhci. A dongle is unplugged at the end; SIGUSR1 unplugs the last one, and plugs it in again.
            """
    )

    @Option(help: "Offer virtual controllers on this port of the loopback interface; 0 lets the system choose.")
    var listen: UInt16?

    @Option(
        help:
            "Offer a virtual controller behind a terminal, which takes the place of a serial port, by h4 or h5; once for each."
    )
    var terminal: [SerialProtocol] = []

    @Flag(help: "Plug a virtual controller into this machine's kernel as a USB dongle; once for each.")
    var dongle: Int

    @Flag(
        help:
            "Give this machine's kernel an adapter that is a virtual controller, without USB in between; once for each."
    )
    var vhci: Int

    @Option(help: "How many milliseconds the events of dongles come late, behind the data, as they do on USB.")
    var eventDelay: Int = 0

    @Flag(help: "Cut and join the transfers of dongles by lot.")
    var split = false

    @Flag(help: "Let dongles offer Bulk Serialization Mode.")
    var bulkSerialization = false

    @Option(help: "Let the last dongle say nothing any more after so many commands, until its USB port is reset.")
    var muteAfter: Int?

    @Flag(help: "Print the list as JSON, for programs: its fields keep their names.")
    var json = false

    @Option(help: "What the controllers' randomness follows from; without it, from the system.")
    var seed: UInt64?

    @Option(help: "Write the HCI packets of each controller to a btsnoop file in this folder.")
    var capture: String?

    /// In milliseconds. A host gives up on events later than that.
    private static let eventDelays = 0...10_000
    /// The number of ports that a virtual USB host controller has.
    private static let dongles = 0...8
    /// More than one machine needs.
    private static let adapters = 0...16

    func validate() throws {
        guard Self.eventDelays.contains(eventDelay) else {
            throw ValidationError("events can be late by 0 to 10000 ms")
        }
        guard Self.dongles.contains(dongle) else { throw ValidationError("the kernel has ports for 8 dongles") }
        guard Self.adapters.contains(vhci) else { throw ValidationError("up to 16 adapters can be made at a time") }
        guard muteAfter ?? 0 >= 0 else {
            throw ValidationError("a dongle takes 0 commands or more before it falls mute")
        }
        guard dongle > 0 || (eventDelay == 0 && !split && !bulkSerialization && muteAfter == nil) else {
            throw ValidationError(
                "--event-delay, --split, --bulk-serialization and --mute-after are for dongles; write --dongle too"
            )
        }
    }

    func run() throws {
        do throws(ToolError) {
            guard listen == nil, terminal.isEmpty, dongle == 0, vhci == 0 else { return try offer() }
            try AdapterList(of: KernelAdapters(), usb: USBFinder()).show(json: json)
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
        let (dongles, behaviour, adapters) = (dongle, dongleBehaviour, vhci)
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
            do throws(ToolError) {
                try offer.offer(dongles: dongles, behaviour)
                try offer.offer(adapters: adapters)
            } catch {
                return outcome.finish(.failure(error))
            }
            guard let port else { return }
            offer.listen(port: port) { result in
                switch result {
                case .success(let port): Console.line("listening on tcp:127.0.0.1:\(port)")
                case .failure(let error): outcome.finish(.failure(error))
                }
            }
        }
        Interrupts.on(SIGUSR1) { loop.submit { offer.with { $0.plugOrUnplug() } } }
        try outcome.wait()
    }

    private var dongleBehaviour: DongleTransport.Behaviour {
        var behaviour = DongleTransport.Behaviour(eventDelay: .milliseconds(eventDelay))
        behaviour.descriptors.offersSerialization = bulkSerialization
        behaviour.muteAfter = muteAfter
        if split { behaviour.splitSeed = seed ?? RandomSource().next() }
        return behaviour
    }
}
