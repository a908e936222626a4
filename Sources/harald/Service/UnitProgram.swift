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
        // systemd rejects such a path, however it is quoted.
        guard !program.unicodeScalars.contains(where: { $0.value < 0x20 || "\"'\\\u{7F}".unicodeScalars.contains($0) })
        else {
            return
                "systemd does not run a program whose path has quotes, backslashes or control characters; move harald elsewhere"
        }
        guard isOfMachine else { return nil }
        let place = "copy it to /usr/local/bin, as root, and run `harald install` from there"
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

    /// Returns the hidden directory that contains the path, directly or through symbolic links.
    private static func hiding(_ path: String) -> String? {
        let paths = [path, URL(fileURLWithPath: path).resolvingSymlinksInPath().path]
        return hidden.first { directory in paths.contains { $0 == directory || $0.hasPrefix(directory + "/") } }
    }
}
