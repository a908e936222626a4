import CoreBluetooth
import CoreBluetoothExtras
import Foundation

// A single app process for the tests in Interop/: the first argument selects the app, the others its service, its value
// and its log.

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

// A launched process inherits the service's output, which may close together with the service.
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
