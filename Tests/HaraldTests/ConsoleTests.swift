import BluetoothTypes
import Foundation
import Testing

@testable import harald

@Suite struct ConsoleTests {
    @Test func peerTextCannotControlTheTerminal() {
        let name = "\u{1B}[8m\u{9B}2J\u{7F}\u{202E}\u{2066}\r\nharald: all is well"
        let octets = Console.octets(of: "found \(name.quotedName), or \(name)")
        let text = String(decoding: octets, as: UTF8.self)
        #expect(text.hasSuffix("\n"))
        #expect(text.dropLast().unicodeScalars.allSatisfy { $0.value >= 0x20 })
        for value: UInt32 in [0x1B, 0x9B, 0x7F, 0x202E, 0x2066, 0x0D] {
            #expect(!text.unicodeScalars.contains { $0.value == value })
        }
        #expect(text.contains("\\u{1b}[8m\\u{9b}2J\\u{7f}\\u{202e}\\u{2066}\\u{d}\\u{a}harald"))
    }

    @Test func valuesThatTurnTheTextAroundAreShownInHexadecimalAlone() {
        #expect(shown([0x68, 0x69]) == "6869 \"hi\"")
        #expect(shown([0xE2, 0x80, 0xAE, 0x68, 0x69]) == "e280ae6869")
        #expect(shown([0x1B, 0x5B, 0x38, 0x6D]) == "1b5b386d")
        #expect(shown([0xFF]) == "ff")
    }

    @Test func afterTheEndNothingIsSaid() throws {
        let outcome = Outcome()
        #expect(!outcome.isKnown)
        outcome.finish(.success(()))
        outcome.finish(.failure(.incomplete("too late")))
        #expect(outcome.isKnown)
        try outcome.wait()
    }
}
