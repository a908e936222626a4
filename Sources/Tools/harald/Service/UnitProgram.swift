import Foundation
import ServiceProcess

/// Checks whether systemd can, and should, run a program as the service.
enum UnitProgram {
    /// The directories that ProtectHome= and PrivateTmp= hide from a service (systemd.exec(5)).
    private static let hidden = ["/home", "/root", "/run/user", "/tmp", "/var/tmp"]

    /// Returns why systemd cannot or should not run the program, with what to do; nil if it can.
    ///
    /// - Parameter controller: The path of the controller's file; nil if it has none.
    static func fault(of program: String, controller: String?, isOfMachine: Bool) -> String? {
        guard isOfMachine else { return nil }
        let place = "copy it to \(directory), and run `harald install` from there: `\(copying(program))`"
        if let directory = hiding(program) {
            return "a machine-wide service does not see \(program), because its unit hides \(directory); \(place)"
        }
        if let controller, let directory = hiding(controller) {
            return """
                a machine-wide service does not see \(controller), because its unit hides \(directory); let the controller listen \
                elsewhere, for example below /run
                """
        }
        if let fault = PathTrust.fault(on: program, owners: [0]) {
            return
                "users other than root could replace the program of the machine-wide service: \(fault); or \(place)"
        }
        return nil
    }

    /// Where only root can replace a program, and every service sees it.
    private static let directory = "/usr/local/bin"

    /// The command that copies the program to a place from which a machine-wide service can run it.
    private static func copying(_ program: String) -> String {
        "sudo install -m 755 \(shellWord(program)) \(directory)/harald"
    }

    /// The commands that install a machine-wide service, copying the program if it has to.
    static func installation(of program: String, controller: String) -> String {
        let canStay = fault(of: program, controller: nil, isOfMachine: true) == nil
        let install = " install --machine --controller \(shellWord(controller))"
        return canStay
            ? "sudo \(shellWord(program))" + install
            : "\(copying(program)) && sudo \(directory)/harald" + install
    }

    /// Quotes an argument for a shell, if it needs that.
    static func shellWord(_ text: String) -> String {
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/.:_-=,@+".contains($0)) }
        return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }

    /// Returns the hidden directory that contains the path, directly or through symbolic links.
    private static func hiding(_ path: String) -> String? {
        let paths = [path, URL(fileURLWithPath: path).resolvingSymlinksInPath().path]
        return hidden.first { directory in paths.contains { $0 == directory || $0.hasPrefix(directory + "/") } }
    }
}
