import FileTransfer
import Foundation

/// Prints at once. `print` alone waits for its buffer to fill, unless standard output is a terminal.
func say(_ report: some Any) {
    print(report)
    fflush(nil)
}

// file-transfer offer PATH | file-transfer fetch PATH
let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count == 2, ["offer", "fetch"].contains(arguments[0]) else {
    print("usage: file-transfer offer PATH | file-transfer fetch PATH")
    exit(64)
}
let path = URL(fileURLWithPath: arguments[1])
let device: AnyObject
if arguments[0] == "offer" {
    device = FileOffer(content: try Data(contentsOf: path)) { say($0) }
} else {
    device = FileFetch { report in
        guard case .received(let content) = report else { return say(report) }
        do {
            try content.write(to: path)
            say("Wrote \(content.count) octets to \(path.path)")
        } catch {
            say("Could not write \(path.path): \(error.localizedDescription)")
        }
    }
}
withExtendedLifetime(device) { RunLoop.main.run() }
