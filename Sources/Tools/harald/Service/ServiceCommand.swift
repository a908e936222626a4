import Administration
import ArgumentParser
import BluetoothService
import BluetoothTypes
import EventLoops
import Foundation
import HCITransports
import Logging
import RadioEnergy
import SMP
import ServiceMessages
import ServiceProcess

struct ServiceCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "service",
        abstract: "Run the Bluetooth service that the programs of this user share, until interrupted.",
        discussion: """
            Programs find the service by themselves, or through HARALD_SERVICE, which names its socket. Several programs use one \
            controller at the same time, isolated from each other.

            Examples:
              harald service --controller tcp:127.0.0.1:9100
              harald service --controller hci0 --policy policy --metrics harald.prom
              harald service --page

            \(ExitStatus.textUntilInterrupted(.controllerUnreachable, .controllerFailed))
            """
    )

    @OptionGroup var line: ControllerOptions
    @OptionGroup var listening: ListeningOptions
    @OptionGroup var deciding: PolicyOptions
    @OptionGroup var counting: MetricsOptions
    @OptionGroup var showing: PageOptions
    @OptionGroup var estimating: EnergyOptions

    @Option(
        help: ArgumentHelp(
            "The directory of the apps that can be launched (default: harald/apps in the user's data directory).",
            valueName: "DIRECTORY"
        ),
        completion: .directory
    )
    var apps: String?

    @Flag(
        help: """
            Let systemd freeze the processes of suspended apps that it runs as separate units. Without this, suspended apps wait for \
            Bluetooth as well, but can do other work.
            """
    )
    var freeze = false

    @Option(help: ArgumentHelp("The name of this device, as peers see it.", valueName: "NAME"))
    var name = "Harald"

    @Option(
        help: ArgumentHelp("Keep bonds and the preserved state of apps in this directory.", valueName: "DIRECTORY"),
        completion: .directory
    )
    var store: String?

    func execute() throws(ToolError) {
        let outcome = Outcome()
        outcome.finishOnInterrupt(by: [SIGINT, SIGTERM])
        Console.ignoreBrokenPipe()
        let policy = try deciding.load()
        let energy = try estimating.load()
        let capture = try line.captureFile()
        let socket = try listening.listen()
        let loop = NIOEventLoop()
        let finder = ControllerFinder(kept: ServiceManager.keptController, keeper: DescriptorStore())
        let system = line.startSystem(
            configuration,
            waits: true,
            energy: energy,
            finder: finder,
            loop: loop,
            logger: ServiceLog.logger,
            capture: capture,
            outcome: outcome
        )
        // Another process may have the store open.
        try outcome.throwFailure()
        let desk = system.with { LoopBound(PromptDesk($0, policy: policy), loop: loop) }
        readAgain(into: desk)
        let counting = counting
        let counted = system.with { LoopBound(counting.count($0, loop: loop), loop: loop) }
        let (access, freeze, showing) = (listening.access, freeze, showing)
        // Browsers share no loop with the apps (AB-P01).
        let pageLoop = showing.page ? NIOEventLoop() : nil
        let page = pageLoop?.make { OpenPage() }
        let installed = InstalledApps(directory: apps ?? StateDirectory.apps())
        let listener = system.with { system in
            let programs = KernelPrograms(loop: loop)
            let units = UserUnits(loop: loop, programs: programs)
            let clients = ServiceClients(
                of: system,
                socket: socket.place,
                loop: loop,
                access: access,
                installed: installed,
                programs: programs,
                freezer: freeze ? Freezer(units, logger: ServiceLog.logger) : nil,
                logger: ServiceLog.logger
            )
            let listener = ServiceListener(clients, loop: loop)
            listener.listen(on: socket.descriptor) { result in
                switch result {
                case .success:
                    ServiceManager.notify("READY=1\nSTATUS=listening at \(socket.place.visible)")
                    guard let page, let pageLoop else { return }
                    pageLoop.submit { page.value.show(serviceAt: socket.place, loop: pageLoop, showing, outcome) }
                case .failure(let error): outcome.finish(.failure(.service("\(socket.place): \(error)")))
                }
            }
            return LoopBound(listener, loop: loop)
        }
        Console.line("the Bluetooth service is listening at \(socket.place)")
        defer {
            ServiceManager.notify("STOPPING=1")
            withExtendedLifetime((desk, counted)) {}
            page?.with { $0.close() }
            listener.with { $0.close() }
            system.stop { $0.leave($1) }
            ServiceLog.finish()
        }
        try outcome.wait()
    }

    private var configuration: SystemConfiguration {
        var configuration = SystemConfiguration()
        configuration.deviceName = name
        configuration.user = getuid()
        configuration.pairing.ioCapability = .keyboardDisplay
        configuration.keep(in: store ?? StateDirectory.bonds())
        return configuration
    }

    /// Reloads the policy on SIGHUP. An invalid policy file is reported, and the current policy stays in force.
    private func readAgain(into desk: LoopBound<PromptDesk>) {
        let deciding = deciding
        Interrupts.on(SIGHUP) {
            do throws(ToolError) {
                let policy = try deciding.load()
                desk.with { $0.policy = policy }
                Console.line("the policy was reloaded")
            } catch {
                ServiceLog.logger.error("\(error.description); the previous policy stays in force")
            }
        }
    }
}

/// The energy option of a service.
struct EnergyOptions: ParsableArguments {
    private static let names = RadioProfile.files.map(\.name).joined(separator: ", ")

    @Option(
        help: ArgumentHelp(
            """
            Estimate what each app costs the battery, for harald status and the metrics, with the currents of this radio: \(names), or a file \
            in the format of radio profiles.
            """,
            valueName: "PROFILE"
        ),
        completion: .file(extensions: ["json"])
    )
    var energy: String?

    /// The radio profile; nil if nothing is to be estimated.
    func load() throws(ToolError) -> RadioProfile? {
        guard let energy else { return nil }
        do throws(RadioProfileError) {
            if let file = RadioProfile.files.first(where: { $0.name == energy }) {
                return try RadioProfile(json: file.json)
            }
            return try RadioProfile(contentsOf: URL(fileURLWithPath: energy))
        } catch {
            throw .service("--energy \(energy): \(error); built in are \(Self.names)")
        }
    }
}
