import Foundation
import ServiceMessages
import TestBasics
import Testing

@testable import ServiceProcess

/// The contents of an app directory, and the names of apps for systemd.
@Suite struct InstalledAppsTests {
    private let scratch = TemporaryDirectory.uncreated()

    private func install(_ name: String, _ text: String) throws {
        let directory = "\(scratch.path)/\(name)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory)/Info.plist"))
    }

    private func list(_ identifier: String, padding: Int = 0) -> String {
        let text =
            "<plist><dict><key>CFBundleIdentifier</key><string>\(identifier)</string>"
            + "<key>HaraldLaunch</key><array><string>/bin/\(identifier)</string></array></dict></plist>"
        return text + String(repeating: " ", count: max(0, padding - text.utf8.count))
    }

    private var names: [String] { InstalledApps(directory: scratch.path).commands().keys.sorted() }

    @Test("AB-G05: the first 256 apps of a directory are found, by the names of their directories")
    func theFirstApps() throws {
        for number in 0..<257 { try install("\(1_000 + number)", list("app\(1_000 + number)")) }
        #expect(names == (1_000..<1_256).map { "app\($0)" })
    }

    @Test("AB-G05: an Info.plist has a mebibyte at most, and an app a name and a program")
    func invalidPropertyListsAreNoApps() throws {
        try install("a", list("most", padding: 1 << 20))
        try install("b", list("more", padding: (1 << 20) + 1))
        try install("c", list(""))
        try install("d", "<plist><dict><key>CFBundleIdentifier</key><string>idle</string></dict></plist>")
        #expect(names == ["most"])
    }

    @Test("of two apps with one name the first counts")
    func twoWithOneName() throws {
        try install("a", list("app"))
        try install("b", list("app").replacingOccurrences(of: "/bin/app", with: "/bin/other"))
        #expect(InstalledApps(directory: scratch.path).commands() == ["app": ["/bin/app"]])
    }

    @Test(
        "a unit is named by letters, digits, dots and underscores of ASCII, and by the octets of all else, 100 of them"
    )
    func namesOfUnits() {
        #expect(LaunchCommand.escaped("aZ09._") == "aZ09._")
        #expect(LaunchCommand.escaped("-/\u{7F}\n\u{0}") == "\\x2d\\x2f\\x7f\\x0a\\x00")
        #expect(LaunchCommand.escaped("\u{10}é") == "\\x10\\xc3\\xa9")
        let long = String(repeating: "a", count: 100)
        #expect(LaunchCommand.escaped(long) == long)
        #expect(LaunchCommand.escaped(long + "b") == long)
        #expect(LaunchCommand.unit(of: AppIdentity(name: "a b")) == "app-harald-a\\x20b.service")
    }

    @Test("AB-T02: systemd replaces no variable in the arguments of an app that it runs, and the program's path stays")
    func argumentsOfUnits() {
        let environment = ["INVOCATION_ID": "7", "XDG_RUNTIME_DIR": "/run"]
        let command = ["/opt/a$b", "$HOME", "a${PATH}b", "$$", "%h", "a b", "\"", "\n", "--", "-p"]
        let app = AppIdentity(name: "a\n--property=x $HOME")
        let arguments = LaunchCommand(app, command, variables: ["A": "$B"], environment: environment).program.arguments
        let end = arguments.firstIndex(of: "--") ?? 0
        let expected = ["/opt/a$b", "$$HOME", "a$${PATH}b", "$$$$", "%h", "a b", "\"", "\n", "--", "-p"]
        #expect(Array(arguments[(end + 1)...]) == expected)
        #expect(arguments[..<end].contains("--unit=app-harald-a\\x0a\\x2d\\x2dproperty\\x3dx\\x20\\x24HOME.service"))
    }

    @Test("an app is a unit where systemd runs the service and the user has a runtime directory, and else a child")
    func unitsAndChildren() {
        let app = AppIdentity(name: "a")
        for (environment, path) in [
            (["INVOCATION_ID": "7"], "/opt/a"), (["XDG_RUNTIME_DIR": "/run"], "/opt/a"), ([:], "/opt/a"),
            (["INVOCATION_ID": "7", "XDG_RUNTIME_DIR": "/run"], "/usr/bin/systemd-run"),
        ] {
            #expect(LaunchCommand(app, ["/opt/a"], variables: [:], environment: environment).program.path == path)
        }
        let own = ["A": "service", "B": "1"]
        let program = LaunchCommand(app, ["/opt/a"], variables: ["A": "app"], environment: own).program
        #expect(program.environment == ["A": "app", "B": "1"])
    }
}
