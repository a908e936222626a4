import BluetoothTypes
import Demos
import Foundation

/// The change to a line that completes it.
struct ShellCompletion: Equatable {
    /// The number of scalars before the cursor that are replaced.
    var replacedCount = 0
    /// The text that replaces them; nil if nothing does.
    var replacement: String?
    var listing: [String] = []
}

/// Completes commands, their options, devices and characteristics.
struct ShellCompleter {
    static let maximumListed = 100

    let memory: ClientMemory

    /// Returns the completion of the text before the cursor; nil if there is none.
    func complete(_ text: String) -> ShellCompletion? {
        let line = ShellWords(text)
        guard !line.isInComment else { return nil }
        let typed = line.current ?? ""
        let found = candidates(after: line.words, typed)
        let fitting = Set(found.filter { $0.lowercased().hasPrefix(typed.lowercased()) }).sorted()
        guard let first = fitting.first else { return nil }
        let replaced = line.current == nil ? 0 : line.typedCount
        if fitting.count == 1 {
            return ShellCompletion(replacedCount: replaced, replacement: ShellWords.quoted(first) + " ")
        }
        var completion = ShellCompletion(replacedCount: replaced, listing: Self.listing(fitting))
        let common = Self.commonBeginning(fitting)
        // Candidates that differ in case may have less in common than the user has typed.
        if common.unicodeScalars.count > typed.unicodeScalars.count {
            completion.replacement = ShellWords.quoted(common, isFinished: false)
        }
        return completion
    }

    private static func listing(_ candidates: [String]) -> [String] {
        candidates.count <= maximumListed ? candidates : candidates.prefix(maximumListed) + ["..."]
    }

    private static func commonBeginning(_ texts: [String]) -> String {
        guard let first = texts.first else { return "" }
        return texts.dropFirst().reduce(first) { common, text in
            String(zip(common, text).prefix { $0 == $1 }.map(\.0))
        }
    }

    // MARK: Candidates

    private func candidates(after words: [String], _ typed: String) -> [String] {
        guard let name = words.first else { return ShellVerbs.names }
        guard let syntax = ShellVerbs.named(name).map(VerbSyntax.init) else { return [] }
        let place = syntax.place(after: words.dropFirst())
        if place.allowsOptions, typed.hasPrefix("-") { return syntax.options }
        switch place.valueName {
        case "DEVICE": return devices(typed)
        case "CHARACTERISTIC": return characteristics(of: place.device)
        case "VERB": return ShellVerbs.names
        default: return []
        }
    }

    /// The names of devices, and the identifiers of those without one. A typed identifier is completed too.
    private func devices(_ typed: String) -> [String] {
        memory.candidates.flatMap { device in
            let names = device.names.prefix(1).filter(Self.canBeTyped)
            let identifier = device.identifier.map { [$0.uuidString] } ?? []
            return names.isEmpty || !typed.isEmpty ? names + identifier : Array(names)
        }
    }

    private func characteristics(of device: String?) -> [String] {
        guard let selector = device.flatMap(DeviceSelector.init) else { return [] }
        return memory.characteristics(of: selector).flatMap { uuid in
            let text = uuid.attributeForm.description
            return [assignedName(text), text].compactMap(\.self)
        }
    }

    /// Whether the text can be inserted into a line: a device chooses its own name.
    private static func canBeTyped(_ name: String) -> Bool { !name.isEmpty && name.visible == name }
}
