/// Finds code that needs Objective-C, or names that Foundation has on Apple's systems only.
struct ObjectiveCWords {
    private let source: CompiledSource
    private let delegateMethods: Set<String>
    private let modules: Modules
    /// Names that the package declares itself.
    private let declared: Set<String>

    init(_ source: CompiledSource, optional: OptionalMethods, modules: Modules, declared: Set<String>) {
        self.source = source
        delegateMethods = optional.names
        self.modules = modules
        self.declared = declared
    }

    var findings: [SourceFinding] {
        source.tokens.indices.compactMap { index in
            guard source.tokens[index].kind == .word, let (kind, message) = message(at: index) else { return nil }
            return SourceFinding(file: source.file.name, line: source.tokens[index].line, kind: kind, message: message)
        }
    }

    private func message(at index: Int) -> (SourceFinding.Kind, String)? {
        let text = source.tokens[index].text
        if text == "@objc", follows(index, "optional") { return nil }
        if Adaptation.attributes.contains(text) {
            return (.error, "\(text) needs Objective-C: remove it, or use --adapt to remove it in a copy")
        }
        if let advice = Self.words[text] { return (.error, advice) }
        if text == "optional", follows(index, "func") || follows(index, "var") {
            return (.error, "an optional requirement needs Objective-C: \(Self.optionalAdvice)")
        }
        return call(at: index) ?? missingName(at: index)
    }

    private func follows(_ index: Int, _ text: String...) -> Bool {
        let next = source.tokens[(index + 1)...].prefix(text.count)
        return next.count == text.count && zip(next, text).allSatisfy { $0.is($1) }
    }

    /// Whether a call needs the property of a type that it does not name, after a period or as the type's own.
    private func isCall(_ index: Int) -> Bool {
        guard index + 1 < source.tokens.count, source.tokens[index + 1].is("(") else { return false }
        return index == 0 || !source.tokens[index - 1].is("func")
    }

    /// Returns the message for a dynamic call: an optional method, key-value coding or observing.
    private func call(at index: Int) -> (SourceFinding.Kind, String)? {
        let text = source.tokens[index].text
        if delegateMethods.contains(text), follows(index, "?", "("), index > 0, source.tokens[index - 1].is(".") {
            return (.error, "\(text)?(…) needs Objective-C: \(Self.questionMarkAdvice)")
        }
        guard isCall(index) else { return nil }
        switch text {
        case "value" where follows(index, "(", "forKeyPath"):
            guard !modules.hasGlobals else { return nil }
            return (.warning, Self.keyPathAdvice)
        case "value" where follows(index, "(", "forKey"):
            let key = index + 4 < source.tokens.count ? source.tokens[index + 4].text : ""
            return ObservableProperties.keys.contains(key.trimmingQuotes) ? nil : (.warning, Self.keyAdvice)
        case "setValue" where source.hasLabel("forKey", after: index):
            return (.warning, Self.keyAdvice)
        case "setValue" where source.hasLabel("forKeyPath", after: index),
            "addObserver" where source.hasLabel("forKeyPath", after: index):
            return (.error, Self.codingAdvice)
        case "observe" where ObservedPaths(source.tokens).observation(at: index) != nil:
            return (.error, Self.observationAdvice)
        case "observe" where follows(index, "(", "\\"):
            return isOfCoreBluetooth(keyPathAfter: index + 2) ? nil : (.error, Self.codingAdvice)
        case "publisher" where follows(index, "(", "for", ":", "\\"):
            return isOfCoreBluetooth(keyPathAfter: index + 4) ? nil : (.error, Self.codingAdvice)
        default: return nil
        }
    }

    /// Whether the key path that starts with the backslash at `index` ends in a property that can be observed.
    private func isOfCoreBluetooth(keyPathAfter index: Int) -> Bool {
        let names = source.tokens[(index + 1)...].prefix { $0.kind == .word || $0.is(".") }.filter { $0.kind == .word }
        return names.last.map { ObservableProperties.swiftNames.contains($0.text) } ?? false
    }

    /// Returns the message for a name of Apple's Foundation that Linux's lacks.
    private func missingName(at index: Int) -> (SourceFinding.Kind, String)? {
        let text = source.tokens[index].text
        guard !declared.contains(text), index == 0 || !source.tokens[index - 1].is(".") else { return nil }
        if Self.streamPrefixes.contains(where: text.hasPrefix), text.count > 8 {
            let remedy =
                text.hasSuffix("SetDispatchQueue")
                ? "schedule the streams of a CBL2CAPChannel in a run loop, or use its octets of CoreBluetoothExtras"
                : "use the streams of a CBL2CAPChannel, or Stream.getBoundStreams"
            return (.error, "Linux has no \(text): \(remedy)")
        }
        guard Self.globals.contains(text), !modules.hasGlobals else { return nil }
        return (.error, "Linux has no \(text): use the stand-in, --with globals")
    }

    private static let streamPrefixes = ["CFStream", "CFReadStream", "CFWriteStream", "kCFStream", "CFSocketStream"]

    /// The names that the stand-in `globals` has and neither Foundation for Linux nor `CoreBluetooth`.
    private static let globals: Set<String> = [
        "autoreleasepool", "objc_sync_enter", "objc_sync_exit", "CACurrentMediaTime", "mach_absolute_time",
        "NSEC_PER_SEC", "NSEC_PER_MSEC", "NSEC_PER_USEC", "USEC_PER_SEC", "MSEC_PER_SEC", "OSStatus",
        "DispatchSerialQueue", "objc_getAssociatedObject", "objc_setAssociatedObject", "objc_removeAssociatedObjects",
    ]

    private static let optionalAdvice = """
        provide a default in a protocol extension, or use --adapt, which does so for methods without a result
        """
    private static let questionMarkAdvice = """
        call it without the question mark, or use --adapt; the default does nothing
        """
    private static let codingAdvice = """
        key-value coding needs Objective-C, except for the objects of Core Bluetooth: use the property directly, or a \
        method of your own
        """
    private static let observationAdvice = """
        observing through a property of one's own needs Objective-C: observe the object in it, or use --adapt
        """
    private static let keyAdvice = """
        on Linux only Core Bluetooth's objects, dictionaries and user defaults have values for keys: use the property \
        of other objects directly
        """
    private static let keyPathAdvice = """
        on Linux only dictionaries have values for key paths, with the stand-in, --with globals: use the property of \
        other objects directly
        """

    private static let words = [
        "#selector": """
        #selector needs Objective-C: use the variant that takes a closure, such as Timer(timeInterval:repeats:block:) \
        or addObserver(forName:object:queue:using:), or --adapt with the stand-in, --with globals
        """,
        "#keyPath": "#keyPath needs Objective-C: use a key path, \\.name",
        "NSSelectorFromString": "selectors need Objective-C: call the method directly",
        "@IBOutlet": "@IBOutlet needs Interface Builder, which Linux does not have: remove it",
        "@NSManaged": "@NSManaged needs Core Data, which Linux does not have",
    ]
}

/// The properties of Core Bluetooth's objects that can be observed and read by name.
enum ObservableProperties {
    static let swiftNames: Set<String> = [
        "state", "isScanning", "isAdvertising", "name", "rssi", "services", "canSendWriteWithoutResponse",
        "ancsAuthorized", "characteristics", "includedServices", "value", "descriptors", "isNotifying",
    ]

    /// The names in Objective-C.
    static let keys: Set<String> = swiftNames.union([
        "identifier", "authorization", "maximumUpdateValueLength", "RSSI", "UUID", "isPrimary", "peripheral", "service",
        "properties", "characteristic",
    ])
}

extension String {
    /// The text of a literal without its quotes.
    fileprivate var trimmingQuotes: String { count >= 2 && hasPrefix("\"") ? String(dropFirst().dropLast()) : self }
}

extension CompiledSource {
    /// Whether the call that starts after `index` has an argument with this label.
    fileprivate func hasLabel(_ label: String, after index: Int) -> Bool {
        var depth = 0
        for token in tokens[(index + 1)...] {
            if token.is("(") { depth += 1 }
            if token.is(")") { depth -= 1 }
            if depth == 0 { return false }
            if depth == 1, token.is(label) { return true }
        }
        return false
    }
}
