import ArgumentParser
import BluetoothTypes
import Demos

/// The characteristic that a command is about: a UUID, or the beginning of its name in the assigned numbers, perhaps
/// after its service and a slash.
struct CharacteristicSelector: Hashable, Sendable, ExpressibleByArgument {
    static let help = ArgumentHelp(
        "The characteristic: a UUID, or a name or its beginning, after its service and a slash if several have it.",
        valueName: "CHARACTERISTIC"
    )

    /// The argument as the user wrote it.
    let text: String
    private let service: String?
    private let characteristic: String

    /// Parses an argument. Returns nil if a part of it is empty.
    init?(argument: String) {
        let parts = argument.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty }), let last = parts.last else { return nil }
        text = argument
        service = parts.count == 2 ? parts.first.map(String.init) : nil
        characteristic = String(last)
    }

    func fits(_ listed: AttributeListing.Characteristic, in service: AttributeListing.Service) -> Bool {
        if let wanted = self.service, !Self.fits(wanted, service.uuid) { return false }
        return Self.fits(characteristic, listed.uuid)
    }

    private static func fits(_ text: String, _ uuid: BluetoothUUID) -> Bool {
        if let wanted = typedUUID(text) { return wanted == uuid }
        return assignedName(uuid.attributeForm.description)?.lowercased().hasPrefix(text.lowercased()) == true
    }
}

extension AttributeListing {
    /// Returns the characteristic that the user has named.
    ///
    /// - Parameter isPreferred: Which of several with the same UUID to take.
    func choose(
        _ selector: CharacteristicSelector,
        of name: String,
        preferring isPreferred: (Characteristic) -> Bool
    ) throws(ToolError) -> Characteristic {
        let fitting = services.flatMap { service in
            service.characteristics.filter { selector.fits($0, in: service) }
        }
        let names = Set(fitting.map(\.uuid)).map { nameOf($0) }.sorted()
        guard names.count <= 1 else {
            throw .incomplete(
                "\(selector.text.quotedName) fits several characteristics: \(names.joined(separator: ", "))"
            )
        }
        guard let chosen = fitting.first(where: isPreferred) ?? fitting.first else {
            throw .incomplete("\(name.quotedName) has no characteristic \(selector.text.quotedName); \(own)")
        }
        return chosen
    }

    /// Returns the characteristic to follow: the one that the user has named, if possible one that notifies. By default
    /// it is the heart rate, or else the first that notifies; nil if none does.
    func toFollow(_ selector: CharacteristicSelector?, of name: String) throws(ToolError) -> Characteristic? {
        if let selector { return try choose(selector, of: name, preferring: \.canNotify) }
        return followable.first { $0.uuid == 0x2A37 } ?? followable.first
    }

    private var own: String {
        let names = services.flatMap(\.characteristics).map { nameOf($0.uuid) }
        return names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
    }
}
