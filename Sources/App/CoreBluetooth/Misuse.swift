import Foundation
import Logging
import ServiceMessages
import Synchronization

/// Logs misuse of the API as Apple's framework does: what the app did that has no effect, and why (behaviour 1.26).
///
/// The prefix `API MISUSE` is Apple's, so that searching for it finds advice. The lines of a simulated app have its
/// name, its device, and the seed and the name of its world as metadata.
package enum Misuse {
    // Created for each line, because an app may configure logging after the first one.
    private static func logger(of connection: (any ServiceConnection)?) -> Logger {
        var logger = Logger(label: "CoreBluetooth")
        for (key, value) in metadata(of: connection) { logger[metadataKey: key] = value }
        return logger
    }

    /// Returns the metadata of the log lines of an app.
    package static func metadata(of connection: (any ServiceConnection)?) -> Logger.Metadata {
        guard let place = connection?.place else { return [:] }
        var metadata: Logger.Metadata = [
            "app": "\(place.app)", "device": "\(place.device)", "seed": "\(place.seed)",
        ]
        if let world = place.world { metadata["world"] = "\(world)" }
        return metadata
    }

    /// The environment variable that switches strict mode on, with the value `error`.
    static let variable = "HARALD_MISUSE"

    /// Whether misuse is also reported to the delegate as an error, where Apple's system leaves the app waiting
    /// (behaviour 1.6). False by default.
    @TaskLocal package static var isStrict = ProcessInfo.processInfo.environment[variable] == "error"

    /// The error for the delegate in strict mode, with the log line as its debug description.
    static func error(_ code: CBError.Code, _ text: String) -> CBError {
        CBError(code, userInfo: [NSDebugDescriptionErrorKey: "API MISUSE: \(text)"])
    }

    /// Logs that the app broke a rule. The call had no effect unless `text` says otherwise.
    ///
    /// - Parameters:
    ///   - text: What the app did, and why it had no effect.
    ///   - connection: The app's connection; by default that of the running callback, if there is one.
    package static func report(_ text: String, by connection: (any ServiceConnection)? = ServiceLocator.found) {
        // The objects of a process that has ended are released as they are; that is no fault of the app.
        if let connection, connection.hasEnded { return }
        logger(of: connection).error("API MISUSE: \(text)")
        guard let site = CallSites.present() else { return connection?.noteMisuse(text) ?? () }
        connection?.noteMisuse(text, at: site)
    }

    /// Logs that a request will not have the effect that the app may expect.
    static func warn(_ text: String, by connection: (any ServiceConnection)?) {
        logger(of: connection).warning("\(text)")
        connection?.noteWarning(text)
    }

    /// Logs that a manager belongs to no simulated app of this process, which its app may have meant it to.
    static func warnOfOutsider() {
        logger(of: nil).warning(
            """
            A manager was created outside of the simulated apps of this process, so it uses the Bluetooth of the machine. An app's \
            code is what its launch and its callbacks run, and the tasks that these start. In a test with .world it is also \
            the queues and threads that they start, except with appTime: .machine, ThreadSanitizer or a statically linked \
            Swift. Elsewhere, create the manager in the launch or in a callback, and pass it to the thread or queue.
            """
        )
    }
}

extension ManagerLink {
    /// Logs that the app broke a rule, from whichever thread it did.
    func report(_ text: String) { Misuse.report(text, by: connection) }

    /// Logs that a request will not have the effect that the app may expect.
    func warn(_ text: String) { Misuse.warn(text, by: connection) }
}

extension NSObject {
    /// The beginning of a description: the class without its module, and the address of the object.
    var nameAndAddress: String {
        let address = UInt(bitPattern: ObjectIdentifier(self))
        return "\(type(of: self)): 0x\(String(address, radix: 16))"
    }
}

/// Detects whether a delegate leaves out an optional method. In that case the protocol's default implementation runs
/// and reports so. Swift offers no other way on Linux.
enum OmittedMethod {
    private final class Note: Sendable {
        let isMade = Atomic(false)
    }

    @TaskLocal private static var note: Note?

    /// Returns whether a default implementation has reported itself while `call` was running.
    static func noted(_ call: () -> Void) -> Bool {
        let note = Note()
        $note.withValue(note, operation: call)
        return note.isMade.load(ordering: .relaxed)
    }

    /// Called by the default implementation of an optional method.
    static func noteDefaultCall() {
        note?.isMade.store(true, ordering: .relaxed)
    }
}
