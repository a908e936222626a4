import BluetoothTypes
import Foundation
import ServiceEvents
import ServiceMessages

// The status as lines for the user. Strings from outside are escaped so that they cannot control the terminal
// (`visible`, `quotedName`).

extension SystemStatus {
    /// The lines, few enough for one screen.
    package var lines: [String] { lines { $0.numbers } }

    /// Returns the lines, few enough for one screen.
    ///
    /// - Parameter chip: Puts the controller's manufacturer and version into words.
    package func lines(chip: (ControllerStatus) -> String) -> [String] {
        let word = ManagerState(name: state)?.word ?? state.visible
        var lines = ["Bluetooth is \(word)" + (failure.map { ": \($0.visible)" } ?? "")]
        if let recovery { lines.append(recovery.line) }
        if let controller { lines.append("\(controller.line), \(chip(controller))") }
        lines += section("apps", apps.flatMap(\.lines))
        lines += section("links", links.map(\.line))
        lines += section("scans", scans.map(\.line))
        lines += section("advertising", advertising.map(\.line))
        lines += section("preserved apps", preserved.map(\.line))
        // The first line has said it already.
        lines += section("troubles", troubles.filter { $0.text != lines.first }.map(\.line))
        lines += energy?.lines ?? []
        return lines
    }

    private func section(_ title: String, _ lines: [String]) -> [String] {
        lines.isEmpty ? [] : ["\(title):"] + lines.map { "  \($0)" }
    }
}

extension TroubleStatus {
    package var line: String {
        let often = count > 1 ? ", \(count) times" : ""
        return "\(weight.visible), \(Int(secondsAgo.rounded())) s ago\(often): \(text.visible)"
    }
}

extension RecoveryStatus {
    package var line: String {
        "recovery step \(step): \(cause.visible)" + (advice.map { "; \($0.visible)" } ?? "")
    }
}

extension ControllerStatus {
    fileprivate var line: String {
        let shown = [address.map { "address \($0.visible)" }, advertisedAddress.map { "advertises as \($0.visible)" }]
        let words = ["controller\(place.isEmpty ? "" : " \(place.visible)")"] + shown.compactMap(\.self)
        return words.joined(separator: ", ")
    }

    fileprivate var numbers: String { "company \(company), HCI \(version)" }
}

extension AppStatus {
    /// The app, followed by its managers.
    package var lines: [String] {
        let called = displayName.map { " (\($0.quotedName))" } ?? ""
        let life = isManaged ? phase.visible : "\(phase.visible), unmanaged"
        let pace = isSlowedDown == true ? ", woken less often because it overran its time in the background" : ""
        let activity = hasLiveActivity == true ? ", with a Live Activity" : ""
        let kind = kind.map { ", \($0.visible)" } ?? ""
        let first =
            "\(name.visible)\(called), user \(owner), \(life)\(kind)\(pace)\(activity), permission \(permission.visible)"
            + (executable.map { ", program \($0.quotedText)" } ?? "")
        return [first] + managers.map { "  \($0.line)" }
    }
}

extension ManagerStatus {
    package var line: String {
        let restored = restoreIdentifier.map { ", restored as \($0.quotedName)" } ?? ""
        let kind =
            switch role {
            case ManagerRole.accessorySetup.name: "accessory setup session"
            case ManagerRole.activities.name: "live activities"
            default: "\(role.visible) manager"
            }
        return "\(kind) \(number), \(state.visible)\(restored)"
    }
}

extension LinkStatus {
    package var line: String {
        let who = name.map { "\($0.quotedName) \(peer)" } ?? "\(peer)"
        let users = owners.map { "\($0)" }.joined(separator: " and ")
        let used = apps.isEmpty ? "no app" : "\(apps.map(\.visible).joined(separator: ", ")) of user \(users)"
        let interval = Double(intervalMicroseconds) / 1_000
        let bond = isBonded ? "bonded" : "not bonded"
        return "\(who), as \(role.visible), \(addressType.visible) address, MTU \(mtu), every \(interval) ms, "
            + "encryption \(encryption.visible), \(bond), used by \(used)"
    }
}

extension ScanStatus {
    package var line: String {
        let wanted = services.isEmpty ? "all services" : services.map(\.visible).joined(separator: ", ")
        return
            "\(app.visible), user \(owner), for \(wanted)\(allowsDuplicates ? ", with duplicates" : "")\(isActive ? "" : ", inactive")"
    }
}

extension AdvertisingStatus {
    package var line: String {
        let what = [localName?.quotedName].compactMap(\.self) + services.map(\.visible)
        return
            "\(app.visible), user \(owner): \(what.isEmpty ? "nothing" : what.joined(separator: ", ")), \(shown.visible)"
    }
}

extension PreservedStatus {
    package var line: String {
        let all = centrals.map { "central \($0.quotedName)" } + peripherals.map { "peripheral \($0.quotedName)" }
        return "\(app.visible), user \(owner): \(all.joined(separator: ", "))\(relaunch)"
    }

    private var relaunch: String {
        guard let earlyEnds, earlyEnds > 0 else { return "" }
        let pause = launchPauseSeconds.map { ", not launched again for \(Int($0.rounded(.up))) s" } ?? ""
        return "; ended early \(earlyEnds == 1 ? "once" : "\(earlyEnds) times in a row")\(pause)"
    }
}

extension AppsStatus {
    /// The apps that run, that are preserved and that can be launched, then the permissions and the accessories.
    package var lines: [String] {
        let kept = preserved.map { "\($0.line) (not running)" }
        let launchable = installed.map { "\($0.visible) can be launched" }
        let set = (accessories ?? []).map(\.line)
        let lines = apps.flatMap(\.lines) + kept + launchable + permissions.map(\.line) + set
        return lines.isEmpty ? ["no apps"] : lines
    }

    /// The running apps with this name or executable, their preserved state, permissions and accessories.
    package func lines(of name: String, _ owner: UInt32?) -> [String] {
        func matches(_ app: String, _ user: UInt32) -> Bool { app == name && (owner ?? user) == user }
        let running = apps.filter { app in
            let isExecutable = app.executable?.hasSuffix("/\(name)") == true && (owner ?? app.owner) == app.owner
            return isExecutable || matches(app.name, app.owner)
        }
        let kept = preserved.filter { matches($0.app, $0.owner) }.map { "\($0.line) (not running)" }
        let decisions = permissions.filter { matches($0.app, $0.owner) }.map(\.line)
        let set = (accessories ?? []).filter { matches($0.app, $0.owner) }.map(\.line)
        return running.flatMap(\.lines) + kept + decisions + set
    }
}

extension PermissionStatus {
    package var line: String {
        let program = executable.map { ", as \($0.quotedText)" } ?? ""
        return "\(app.visible), user \(owner)\(program): permission \(permission.visible)"
    }
}

extension AccessoryStatus {
    package var line: String {
        let pending = state == "authorized" ? "" : ", \(state.visible)"
        return "\(app.visible), user \(owner): accessory \(identifier) \(name.quotedName)\(pending)"
    }
}

extension DeviceStatus {
    package var line: String {
        var words = ["\(identifier)"]
        if let name { words.append(name.quotedName) }
        if isConnected { words.append("connected") }
        if isBonded { words.append("bonded") }
        if let rssi { words.append("\(rssi) dBm") }
        if let lastSeenSeconds { words.append("seen \(Int(lastSeenSeconds.rounded())) s ago") }
        return words.joined(separator: "  ")
    }
}

extension BondStatus {
    package var line: String {
        let words = [name?.quotedName, authenticated ? "authenticated" : "not authenticated"].compactMap(\.self)
        let lost = hasForgottenUs ? ["has forgotten this device; forget it here to pair again"] : []
        return (["\(identifier)"] + words + lost).joined(separator: "  ")
    }
}
