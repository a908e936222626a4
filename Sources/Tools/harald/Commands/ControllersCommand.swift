import ArgumentParser
import BluetoothTypes
import EventLoops
import Foundation
import HCI
import HCITransports
import LinkLayer

/// The transport protocol of a controller on a serial port.
enum SerialProtocol: String, ExpressibleByArgument, CaseIterable, Sendable {
    case h4, h5
}

struct ControllersCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "controllers",
        abstract: "List the Bluetooth adapters of this machine, or offer virtual controllers.",
        discussion: """
            Without options, lists each adapter with its name, its address and the place where it is attached, any of which --controller \
            accepts, and with its product, its state and its user. Also lists USB controllers that have no kernel driver.

            With --listen, offers virtual controllers over H4/TCP until interrupted: one for each connection, all on one radio. A \
            connection gets the controller with the lowest free number, which determines its address. A client that reconnects alone \
            therefore gets the same controller, and finds its bonds. With --capture, the HCI packets of all connections to a controller \
            are in controller-NUMBER.btsnoop. With --air, all packets on the radio are in one file, each with its controller and the \
            name it advertises as a comment.

            With --terminal, offers a virtual controller behind a pseudoterminal that works as a serial port, on the same radio. With \
            --dongle, attaches one to this machine's kernel as a USB dongle, for BlueZ or other users of adapters; this requires root \
            and the module vhci-hcd. With --vhci, does the same without USB, through the module hci_vhci. Dongles are unplugged at the \
            end. SIGUSR1 unplugs the last dongle, or plugs it in again.

            Examples:
              harald controllers
              harald controllers --listen 9100
              harald controllers --listen 9100 --channel-sounding
              harald controllers --terminal h4
              harald controllers --listen 9100 --air air.pcapng --quirk staleAddresses

            \(ExitStatus.text(.controllerUnreachable))
            """
    )

    @Option(
        help: ArgumentHelp(
            "Offer virtual controllers on this port of the loopback interface; 0 lets the system choose.",
            valueName: "PORT"
        )
    )
    var listen: UInt16?

    @Option(
        help: ArgumentHelp(
            "Offer a virtual controller behind a pseudoterminal that works as a serial port, using h4 or h5; may be repeated.",
            valueName: "PROTOCOL"
        )
    )
    var terminal: [SerialProtocol] = []

    @Flag(help: "Plug a virtual controller into this machine's kernel as a USB dongle; may be repeated.")
    var dongle: Int

    @Flag(
        help:
            "Add a virtual controller to this machine's kernel as an adapter, without USB; may be repeated."
    )
    var vhci: Int

    @Option(
        help: ArgumentHelp(
            "Delay the events of dongles behind the data, as USB does, by this number of milliseconds.",
            valueName: "MILLISECONDS"
        )
    )
    var eventDelay: Int = 0

    @Flag(help: "Split and join the transfers of dongles at random.")
    var split = false

    @Flag(help: "Make dongles offer Bulk Serialization Mode.")
    var bulkSerialization = false

    @Option(
        help: ArgumentHelp(
            "Make the last dongle stop responding after this number of commands, until its USB port is reset.",
            valueName: "N"
        )
    )
    var muteAfter: Int?

    @Flag(help: "Make the controllers support Channel Sounding. Each is a metre or more from the others.")
    var channelSounding = false

    @Flag(help: "Print JSON for programs: the list, or the addresses that are offered. Its field names are stable.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "The seed for the controllers' random numbers (default: the system's random numbers).",
            valueName: "N"
        )
    )
    var seed: UInt64?

    @Option(
        help: ArgumentHelp(
            "Write the HCI packets of each controller to a btsnoop file in this folder.",
            valueName: "DIRECTORY"
        ),
        completion: .directory
    )
    var capture: String?

    @Option(
        help: ArgumentHelp(
            "Write all packets on the controllers' radio to this pcapng file, with the names of their senders.",
            valueName: "FILE"
        ),
        completion: .file()
    )
    var air: String?

    @Option(
        help: ArgumentHelp(
            "Make the controllers deviate from the specification as real ones do (see Documentation/Quirks.md); may be repeated.",
            valueName: "NAME"
        )
    )
    var quirk: [ControllerQuirk] = []

    /// In milliseconds. A host gives up on events later than that.
    private static let eventDelays = 0...10_000
    /// The number of ports that a virtual USB host controller has.
    private static let dongles = 0...8
    /// More than one machine needs.
    private static let adapters = 0...16

    func validate() throws {
        guard Self.eventDelays.contains(eventDelay) else {
            throw ValidationError("--event-delay must be from 0 to 10000")
        }
        guard Self.dongles.contains(dongle) else {
            throw ValidationError("the kernel has virtual USB ports for at most 8 dongles")
        }
        guard Self.adapters.contains(vhci) else { throw ValidationError("at most 16 adapters can be created") }
        guard muteAfter ?? 0 >= 0 else {
            throw ValidationError("--mute-after must be 0 or more")
        }
        let isOffer = listen != nil || !terminal.isEmpty || dongle > 0 || vhci > 0
        guard isOffer || (capture == nil && air == nil && quirk.isEmpty && seed == nil && !channelSounding) else {
            throw ValidationError(
                """
                --capture, --air, --quirk, --seed and --channel-sounding require --listen, --terminal, --dongle or --vhci
                """
            )
        }
        guard dongle > 0 || (eventDelay == 0 && !split && !bulkSerialization && muteAfter == nil) else {
            throw ValidationError(
                "--event-delay, --split, --bulk-serialization and --mute-after require --dongle"
            )
        }
    }

    func execute() throws(ToolError) {
        guard listen == nil, terminal.isEmpty, dongle == 0, vhci == 0 else { return try offer() }
        try AdapterList(of: KernelAdapters(), usb: USBFinder()).show(json: json)
    }

    private func offer() throws(ToolError) {
        if let capture { try Self.checkFolder(capture) }
        let outcome = Outcome()
        outcome.finishOnInterrupt()
        let loop = NIOEventLoop()
        let (seed, terminals) = (seed, terminal)
        let options = ControllerOffer.Options(
            quirks: Set(quirk),
            hasChannelSounding: channelSounding,
            captureFolder: capture,
            air: try air.map { path throws(ToolError) in try CaptureFile.named(path) }
        )
        let port = listen.map { Int($0) }
        let report = ToolReport(json: json)
        let (dongles, behaviour, adapters) = (dongle, dongleBehaviour, vhci)
        let offer = loop.make {
            let random = seed.map { RandomSource(seed: $0) } ?? RandomSource()
            return ControllerOffer(loop: loop, random: random, options: options, report: report)
        }
        offer.with { offer in
            for kind in terminals {
                guard offer.offerTerminal(kind) else {
                    return outcome.finish(
                        .failure(.incomplete("this machine has no more pseudoterminals; stop programs that use them"))
                    )
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
                case .success(let port): report.show(ListeningDocument("tcp:127.0.0.1:\(port)", port: port))
                case .failure(let error): outcome.finish(.failure(error))
                }
            }
        }
        Interrupts.on(SIGUSR1) { loop.submit { offer.with { $0.plugOrUnplug() } } }
        try outcome.wait()
    }

    /// Refuses a folder that does not exist now, rather than at each connection.
    private static func checkFolder(_ path: String) throws(ToolError) {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue else {
            throw .incomplete("there is no folder \(path.visible) for the captures; create it, or choose another")
        }
    }

    private var dongleBehaviour: DongleTransport.Behaviour {
        var behaviour = DongleTransport.Behaviour(eventDelay: .milliseconds(eventDelay))
        behaviour.descriptors.offersSerialization = bulkSerialization
        behaviour.muteAfter = muteAfter
        if split { behaviour.splitSeed = seed ?? RandomSource().next() }
        return behaviour
    }
}

extension ControllerQuirk: ExpressibleByArgument {}
