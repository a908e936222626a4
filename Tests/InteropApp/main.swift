import CoreBluetooth
import CoreBluetoothExtras
import Foundation

// An app for the tests of Interop/, as a process: its first argument says which, the others its service, its value and its log.

let arguments = CommandLine.arguments
if arguments.count == 3, arguments[1] == "hostile", let seed = UInt64(arguments[2]) {
    var hostile = Hostile(seed: seed, path: ProcessInfo.processInfo.environment["HARALD_SERVICE"] ?? "")
    hostile.run()
    exit(0)
}
guard arguments.count == 5 else {
    print(
        "interop-app gateway|notebook|reader|counter|follower SERVICE CHARACTERISTIC LOG, or interop-app hostile SEED"
    )
    exit(64)
}
let log = arguments[4]

// A process that a service launched prints to the terminal of that service, which may be gone with it.
signal(SIGPIPE, SIG_IGN)

/// Prints a line, and adds it to the log that all launches of the app share.
@Sendable func say(_ text: String) {
    let line = "\(ProcessInfo.processInfo.processIdentifier) \(text)\n"
    if let file = fopen(log, "a") {
        fputs(line, file)
        fclose(file)
    }
    try? FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
}

let (service, characteristic) = (CBUUID(string: arguments[2]), CBUUID(string: arguments[3]))
say("launched for \(LaunchOptions.current.values.flatMap { $0 }.sorted())")
let queue = DispatchQueue(label: "app")
let app: NSObject =
    switch arguments[1] {
    case "gateway": Gateway(service: service, characteristic: characteristic, queue: queue, say: say)
    case "counter": Counter(service: service, characteristic: characteristic, queue: queue, say: say)
    case "follower": Follower(service: service, characteristic: characteristic, queue: queue, say: say)
    case "reader": Reader(service: service, characteristic: characteristic, queue: queue, say: say)
    default: Notebook(service: service, characteristic: characteristic, queue: queue, say: say)
    }
withExtendedLifetime(app) { dispatchMain() }
