import Foundation
import TextTransfer

/// Prints at once. `print` alone waits for its buffer to fill, unless standard output is a terminal.
func say(_ report: some Any) {
    print(report)
    fflush(nil)
}

// text-transfer send TEXT | text-transfer receive
let arguments = CommandLine.arguments.dropFirst()
var device: AnyObject?
switch (arguments.first, arguments.dropFirst().first) {
case ("send", let text?): device = TextSender(text: text) { say($0) }
case ("receive", nil): device = TextReceiver { say($0) }
default:
    print("usage: text-transfer send TEXT | text-transfer receive")
    exit(64)
}
withExtendedLifetime(device) { RunLoop.main.run() }
