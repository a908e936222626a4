import ArgumentParser
import BluetoothTypes
import Foundation
import HCITransports

struct InstallCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Write systemd units that start the Bluetooth service on demand.",
        discussion: """
            Writes two files, or one with --udev, and changes nothing else. Prints the remaining steps.

            Examples:
              harald install --controller tcp:127.0.0.1:9100
              sudo /usr/local/bin/harald install --machine --controller hci0
              sudo harald install --udev

            \(ExitStatus.text())
            """
    )

    @Option(
        help: ArgumentHelp(
            "The controller that the service uses (default: the first usable adapter of this machine).",
            valueName: "CONTROLLER"
        ),
        transform: InstallCommand.address
    )
    var controller: ControllerAddress?

    private var chosen: ControllerAddress { controller ?? .adapter(.first) }

    private static func address(_ text: String) throws -> ControllerAddress {
        do {
            return try ControllerAddress(text)
        } catch {
            throw ValidationError("\(error)")
        }
    }

    @Flag(
        help:
            "Let the service freeze suspended apps; see `harald service --freeze`. For a service of this user only."
    )
    var freeze = false

    @Flag(
        help: "Install one service for all users of this machine, under its own account, rather than one for this user."
    )
    var machine = false

    @Flag(
        help: """
            Write a udev rule that lets the user at the machine open USB Bluetooth controllers, rather than the units; with --machine, \
            the service of the machine instead.
            """
    )
    var udev = false

    @Option(
        help: ArgumentHelp("Write the units to this directory rather than to systemd's.", valueName: "DIRECTORY"),
        completion: .directory
    )
    var directory: String?

    @Flag(help: "Print the units rather than writing them.")
    var print = false

    @Option(
        help: ArgumentHelp(
            "With --print: the path of the program that the units start, which need not exist yet (default: this program).",
            valueName: "FILE"
        ),
        completion: .file()
    )
    var program: String?

    func validate() throws {
        if freeze, machine {
            throw ValidationError("a machine-wide service cannot freeze the programs of users; omit --freeze")
        }
        if freeze, udev { throw ValidationError("--freeze does not apply to a udev rule; omit it") }
        // Whether others could replace the program is checked here, and not when the units are used.
        if program != nil, !print { throw ValidationError("--program requires --print") }
        if program?.hasPrefix("/") == false { throw ValidationError("--program requires an absolute path") }
    }

    func execute() throws(ToolError) {
        if udev {
            let rule = UdevRule(isOfMachine: machine)
            if print, machine {
                Console.problem("harald: the units are left out; harald install --machine --print shows them")
            }
            return try write([(UdevRule.name, rule.text)], to: directory ?? UdevRule.directory) { directory in
                directory == UdevRule.directory ? rule.nextSteps : rule.nextSteps(from: directory)
            }
        }
        let reach = ControllerReach(chosen)
        let program = if let named = self.program { named } else { try Self.ownPath() }
        if case .adapter = chosen, !machine {
            throw .service(
                """
                only a service of the whole machine may use one of its adapters: \
                `\(UnitProgram.installation(of: program, controller: "\(chosen)"))`; or choose another controller for the service \
                of this user: `harald install --controller tcp:HOST:PORT`
                """
            )
        }
        let units = ServiceUnits(
            scope: machine ? .machine : .user,
            program: program,
            arguments: ["--controller", "\(chosen)"] + (freeze ? ["--freeze"] : []),
            reach: reach,
            freezes: freeze
        )
        // The package's program is elsewhere yet.
        let isThere = self.program == nil
        let place = isThere ? UnitProgram.fault(of: program, controller: reach.path, isOfMachine: machine) : nil
        if let fault = units.fault ?? place { throw .service(fault) }
        let files = [("\(ServiceUnits.name).socket", units.socket), ("\(ServiceUnits.name).service", units.service)]
        let standard =
            machine ? "/etc/systemd/system" : StateDirectory.named("XDG_CONFIG_HOME", or: ".config") + "/systemd/user"
        try write(files, to: directory ?? standard) { nextSteps(links: $0 == standard ? nil : $0) }
    }

    private func write(
        _ files: [(String, String)],
        to directory: String,
        then nextSteps: (String) -> [String]
    ) throws(ToolError) {
        // The steps are for any working directory.
        let directory = URL(fileURLWithPath: directory).standardizedFileURL.path
        if print { return files.forEach { name, text in Console.lines("# \(name)\n\(text)") } }
        func refusal(_ reason: String) -> ToolError {
            .service("cannot write to \(directory): \(reason); choose another with --directory")
        }
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        } catch {
            throw refusal(error.localizedDescription)
        }
        for (name, text) in files {
            do throws(OutputFile.Failure) {
                // Of root's units, none is written through a link, as one that masks a unit is (systemctl(1)).
                try OutputFile.write(Array(text.utf8), to: "\(directory)/\(name)")
            } catch {
                throw refusal("\(error)")
            }
            Console.line("wrote \(directory)/\(name)")
        }
        nextSteps(directory).forEach(Console.line)
    }

    /// - Parameter directory: Where the units are, if systemd does not look there by itself (systemd.unit(5)).
    private func nextSteps(links directory: String?) -> [String] {
        let (account, name) = (ServiceUnits.account, ServiceUnits.name)
        let systemctl = machine ? "systemctl" : "systemctl --user"
        let linking = directory.map { directory in
            let paths = ["socket", "service"].map { UnitProgram.shellWord("\(directory)/\(name).\($0)") }
            return ["  \(systemctl) link \(paths.joined(separator: " "))"]
        }
        let enabling = "  \(systemctl) daemon-reload && \(systemctl) enable --now \(name).socket"
        return machine
            ? [
                "next steps, as root:",
                "  useradd --system --no-create-home --shell /usr/sbin/nologin \(account)",
                "  usermod --append --groups \(account) NAME      for each user whose programs may use Bluetooth",
            ]
                + (chosen.isUSB
                    ? ["  harald install --machine --udev      for the rule that opens the controller to the service"]
                    : [])
                + (linking ?? []) + [enabling]
            : ["next steps:"] + (linking ?? []) + [
                enabling,
                "  loginctl enable-linger                       to keep it running while no user is logged in",
            ]
    }

    private static func ownPath() throws(ToolError) -> String {
        guard let path = Bundle.main.executablePath, path.hasPrefix("/") else {
            throw .service("cannot determine the path of this program; call it by its absolute path")
        }
        return path
    }
}
