import ArgumentParser
import Foundation
import HCITransports

struct InstallCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Write the units by which systemd starts the Bluetooth service when a program needs it.",
        discussion: "It writes two files, or with --udev one, and changes nothing else; what to do then it says."
    )

    @Option(
        help: "The controller that the service uses; without it, the first adapter of this machine that can be had."
    )
    var controller = ControllerAddress.adapter(.first)

    @Flag(
        help:
            "Let the service have suspended apps frozen, as `harald service --freeze` says; for a service of this user."
    )
    var freeze = false

    @Flag(help: "One service for all users of this machine, as a user of its own, in place of one for this user.")
    var machine = false

    @Flag(help: "Write the rule for udev by which users may open Bluetooth controllers on USB, instead of the units.")
    var udev = false

    @Option(help: "Write the units into this directory, and not where systemd looks for them.")
    var directory: String?

    @Flag(help: "Print the units, and write nothing.")
    var print = false

    func validate() throws {
        if freeze, machine {
            throw ValidationError("a service of the machine cannot freeze the programs of users; leave --freeze out")
        }
        if freeze, udev { throw ValidationError("a rule for udev freezes nothing; leave --freeze out") }
    }

    func run() throws {
        if udev {
            let rule = UdevRule(account: machine ? ServiceUnits.account : nil)
            return try write([(UdevRule.name, rule.text)], to: directory ?? UdevRule.directory, then: rule.nextSteps)
        }
        if case .adapter = controller, !machine {
            throw ToolError.service(
                """
                a service of one user may not take an adapter from the kernel; write the units of a service for all with --machine, \
                or name another controller with --controller tcp:HOST:PORT
                """
            ).report()
        }
        let reach = ControllerReach(controller)
        let program = try Self.ownPath()
        if let fault = UnitProgram.fault(of: program, controller: reach.path, isOfMachine: machine) {
            throw ToolError.service(fault).report()
        }
        let units = ServiceUnits(
            scope: machine ? .machine : .user,
            program: program,
            arguments: ["--controller", "\(controller)"] + (freeze ? ["--freeze"] : []),
            reach: reach,
            freezes: freeze
        )
        let files = [("\(ServiceUnits.name).socket", units.socket), ("\(ServiceUnits.name).service", units.service)]
        let directory = directory ?? (machine ? "/etc/systemd/system" : Self.unitsOfUser())
        try write(files, to: directory, then: nextSteps)
    }

    private func write(_ files: [(String, String)], to directory: String, then nextSteps: [String]) throws {
        if print { return files.forEach { name, text in Console.lines("# \(name)\n\(text)") } }
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            for (name, text) in files {
                try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory)/\(name)"), options: .atomic)
                Console.line("wrote \(directory)/\(name)")
            }
        } catch {
            let reason = error.localizedDescription
            throw ToolError.service("\(directory) cannot be written: \(reason); choose another with --directory")
                .report()
        }
        nextSteps.forEach(Console.line)
    }

    private var nextSteps: [String] {
        let account = ServiceUnits.account
        return machine
            ? [
                "now, as root:",
                "  useradd --system --no-create-home --shell /usr/sbin/nologin \(account)",
                "  usermod --append --groups \(account) NAME      for each user whose programs may use Bluetooth",
                "  systemctl daemon-reload && systemctl enable --now \(ServiceUnits.name).socket",
            ]
            : [
                "now:",
                "  systemctl --user daemon-reload && systemctl --user enable --now \(ServiceUnits.name).socket",
                "  loginctl enable-linger                       where it has to run without anybody logged in",
            ]
    }

    private static func ownPath() throws -> String {
        guard let path = Bundle.main.executablePath, path.hasPrefix("/") else {
            throw ToolError.service("this program does not know where it is; call it by its whole path").report()
        }
        return path
    }

    private static func unitsOfUser(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        // A relative path is ignored (XDG Base Directory Specification).
        let named = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return (named ?? (environment["HOME"] ?? NSHomeDirectory()) + "/.config") + "/systemd/user"
    }
}
