import Foundation
import ServiceProcess

/// Whether systemd can run a program, and should, as the service.
enum UnitProgram {
    /// What a service with ProtectHome= and PrivateTmp= does not see (systemd.exec(5)).
    private static let hidden = ["/home", "/root", "/run/user", "/tmp", "/var/tmp"]

    /// Why it cannot or should not, with what to do; nil for a program that is fine.
    ///
    /// - Parameter controller: The file of the controller, where it has one.
    static func fault(of program: String, controller: String?, isOfMachine: Bool) -> String? {
        // systemd refuses such a path, however it is quoted.
        guard !program.unicodeScalars.contains(where: { $0.value < 0x20 || "\"'\\\u{7F}".unicodeScalars.contains($0) })
        else {
            return
                "systemd runs no program with quotes, backslashes or control characters in its path; move harald to another place"
        }
        guard isOfMachine else { return nil }
        let place = "copy it to /usr/local/bin, as root, and run `harald install` from there"
        if let directory = hiding(program) {
            return "a service of the machine does not see \(program), since its unit hides \(directory); \(place)"
        }
        if let controller, let directory = hiding(controller) {
            return """
                a service of the machine does not see \(controller), since its unit hides \(directory); let the controller listen \
                somewhere else, for example below /run
                """
        }
        if let fault = PathTrust.fault(on: program, owners: [0]) {
            return
                "others than root could replace the program that the service of the machine runs: \(fault); or \(place)"
        }
        return nil
    }

    /// The hidden directory that a path is in, by its own name or behind symbolic links.
    private static func hiding(_ path: String) -> String? {
        let paths = [path, URL(fileURLWithPath: path).resolvingSymlinksInPath().path]
        return hidden.first { directory in paths.contains { $0 == directory || $0.hasPrefix(directory + "/") } }
    }
}
