import Foundation
import Logging
import ServiceMessages

/// Logs misuse of the API as Apple's framework does: what the app did that has no effect, and why (behaviour 1.26).
///
/// The prefix `API MISUSE` is Apple's, so that searching for it finds advice.
package enum Misuse {
    // Created for each line, because an app may configure logging after the first one.
    private static var logger: Logger { Logger(label: "CoreBluetooth") }

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
    package static func report(_ text: String) {
        logger.error("API MISUSE: \(text)")
        ServiceLocator.current?.noteMisuse(text)
    }

    /// Logs that a request will not have the effect that the app may expect.
    static func warn(_ text: String) {
        logger.warning("\(text)")
    }
}

extension NSObject {
    /// The beginning of a description: the class without its module, and the address of the object.
    var nameAndAddress: String {
        let address = UInt(bitPattern: ObjectIdentifier(self))
        return "\(type(of: self)): 0x\(String(address, radix: 16))"
    }
}
