import Foundation
import TextTransfer

// text-transfer send TEXT | text-transfer receive
let arguments = CommandLine.arguments.dropFirst()
var device: AnyObject?
switch (arguments.first, arguments.dropFirst().first) {
case ("send", let text?): device = TextSender(text: text) { print($0) }
case ("receive", nil): device = TextReceiver { print($0) }
default:
    print("usage: text-transfer send TEXT | text-transfer receive")
    exit(64)
}
withExtendedLifetime(device) { RunLoop.main.run() }
