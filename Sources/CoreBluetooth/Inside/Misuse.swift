import BluetoothService
import Foundation
import Logging

/// Says in the log what Apple's framework says there: what the app did that has no effect, and why (behaviour 1.26). The
/// words `API MISUSE` are Apple's, so that advice about them can be found.
package enum Misuse {
    // Made anew each time: an app may say where logs go after the first line of this one.
    private static var logger: Logger { Logger(label: "CoreBluetooth") }

    /// The environment variable that asks for more than the log, with the value `error`.
    static let variable = "HARALD_MISUSE"

    /// Whether who waits for a callback gets one with an error, where Apple's system, and this one unless told otherwise, says
    /// nothing to the app and lets it wait.
    @TaskLocal package static var isStrict = ProcessInfo.processInfo.environment[variable] == "error"

    /// What the app is told in strict mode: the code, and the line of the log.
    static func error(_ code: CBError.Code, _ text: String) -> CBError {
        CBError(code, userInfo: [NSDebugDescriptionErrorKey: "API MISUSE: \(text)"])
    }

    /// The app broke a rule; the call had no effect unless `text` says otherwise.
    package static func report(_ text: String) {
        logger.error("API MISUSE: \(text)")
        ServiceLocator.current?.noteMisuse(text)
    }

    /// The app asked for something that will not come out as it might expect.
    static func warn(_ text: String) {
        logger.warning("\(text)")
    }
}

extension NSObject {
    /// The beginning of a description: the class without its module, and where the object is.
    var nameAndAddress: String {
        let address = UInt(bitPattern: ObjectIdentifier(self))
        return "\(type(of: self)): 0x\(String(address, radix: 16))"
    }
}
