import BluetoothTypes
import Foundation
import ServiceMessages

/// Shows the user the views of AccessorySetupKit. Used on the loop only.
package protocol AccessoryPrompter: AnyObject {
    /// Shows a question, in place of an earlier one with the same number.
    ///
    /// - Parameter answer: Called at most once, on the loop. Calls after ``closeAccessoryQuestion(_:)`` are ignored.
    func askAboutAccessories(
        _ question: AccessoryQuestion,
        number: UInt64,
        answer: @escaping (PersonAnswer) -> Void
    )
    /// Closes the question with this number, which needs no answer any more.
    func closeAccessoryQuestion(_ number: UInt64)
}

/// The accessories that apps have set up with AccessorySetupKit, and the apps that reach only theirs (behaviour 1.23).
/// Used on the loop only.
package final class SetUpAccessories {
    /// Shows the views of AccessorySetupKit. Without one there is no picker. Not retained.
    package weak var prompter: (any AccessoryPrompter)?
    /// Called when an accessory of an app was added or has changed, or was removed.
    var onChange: (AppIdentity, SetupEvent.Kind, SetUpAccessory) -> Void = { _, _, _ in }
    /// The accessories of each app, the oldest first.
    private(set) var table: [AppIdentity: [SetUpAccessory]] = [:]
    /// Whether the version has AccessorySetupKit.
    let isAvailable: Bool

    init(isAvailable: Bool) { self.isAvailable = isAvailable }

    /// Whether the app's central managers reach only its accessories.
    func limits(_ declaration: AppDeclaration) -> Bool { isAvailable && declaration.setup != nil }

    /// The apps with accessories, in no particular order.
    package var apps: [AppIdentity] { Array(table.keys) }

    package func accessories(of app: AppIdentity) -> [SetUpAccessory] { table[app] ?? [] }

    func accessory(_ identifier: UUID, of app: AppIdentity) -> SetUpAccessory? {
        table[app]?.first { $0.identifier == identifier }
    }

    /// The apps that have set up an accessory.
    func apps(with identifier: UUID) -> [AppIdentity] {
        table.filter { $1.contains { $0.identifier == identifier } }.map(\.key)
    }

    /// Adopts what a previous system had saved.
    func adopt(_ record: AccessoryRecord) { table = record.table.merging(table) { $1 } }

    /// Adds an accessory, or replaces the app's accessory with its identifier.
    ///
    /// - Parameter kind: What adds it.
    /// - Returns: The reason why the app may not have another one, or nil (AB-G05).
    func put(
        _ accessory: SetUpAccessory,
        of app: AppIdentity,
        by kind: SetupEvent.Kind = .accessoryAdded
    ) -> ServiceError? {
        guard let index = table[app]?.firstIndex(where: { $0.identifier == accessory.identifier }) else {
            let held = table.map { (app: $0.key, count: $0.value.count) }
            if let refusal = ServiceLimits.accessories.refusal("accessories", for: app, beside: held) { return refusal }
            table[app, default: []].append(accessory)
            onChange(app, kind, accessory)
            return nil
        }
        table[app]?[index] = accessory
        onChange(app, .accessoryChanged, accessory)
        return nil
    }

    /// Removes an accessory from an app.
    ///
    /// - Returns: Whether the app had it.
    package func remove(_ identifier: UUID, of app: AppIdentity) -> Bool {
        guard var accessory = accessory(identifier, of: app) else { return false }
        table[app]?.removeAll { $0.identifier == identifier }
        if table[app]?.isEmpty == true { table[app] = nil }
        accessory.state = .unauthorized
        onChange(app, .accessoryRemoved, accessory)
        return true
    }

    /// Gives an accessory of an app another name.
    ///
    /// - Returns: Whether the app has the accessory, and the name is not blank.
    package func rename(_ identifier: UUID, of app: AppIdentity, to name: String) -> Bool {
        guard let renamed = accessory(identifier, of: app)?.renamed(to: name) else { return false }
        return put(renamed, of: app) == nil
    }
}

extension SetUpAccessory {
    /// Returns the accessory with another name, reduced to one line and cut to its limit; nil if the name is blank
    /// (behaviour 16.8).
    package func renamed(to name: String) -> SetUpAccessory? {
        var renamed = self
        renamed.name = name.oneLine(AccessoryQuestion.maximumName)
        return renamed.name.isEmpty ? nil : renamed
    }
}
