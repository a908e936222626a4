import BluetoothTypes
import Foundation

extension Accessory {
    /// Encodes the accessory in the format that ``init(from:)`` reads.
    public func encode(to encoder: any Encoder) throws {
        try tree.encode(to: encoder)
    }

    /// Returns the accessory as a JSON text with sorted keys, which `init(json:)` reads.
    public var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // A tree of finite numbers can always be encoded.
        guard let data = try? encoder.encode(tree) else { return "" }
        return String(decoding: data, as: UTF8.self)
    }

    private var tree: JSONTree {
        .members(
            ("format", .number(Double(Self.format))),
            ("name", .text(name)),
            ("description", summary.map { .text($0) }),
            ("advertising", advertising == Advertising(name: name) ? nil : advertising.tree(of: name)),
            ("security", security == Security() ? nil : security.tree),
            ("channelSounding", hasChannelSounding ? .bool(true) : nil),
            ("values", .list(hiddenValues.map(\.tree))),
            ("faults", .list(faults.map(\.tree))),
            ("services", services.isEmpty ? nil : .array(services.map(\.tree)))
        )
    }
}

extension JSONTree {
    fileprivate static func members(_ members: (String, JSONTree?)...) -> JSONTree {
        .object(Dictionary(members.compactMap { key, value in value.map { (key, $0) } }) { $1 })
    }

    fileprivate static func list(_ elements: [JSONTree]) -> JSONTree? { elements.isEmpty ? nil : .array(elements) }
}

extension Duration {
    fileprivate var tree: JSONTree {
        let (seconds, attoseconds) = components
        return .number(Double(seconds * 1_000_000 + attoseconds / 1_000_000_000_000) / 1_000_000)
    }

    fileprivate var treeUnlessZero: JSONTree? { self == .zero ? nil : tree }
}

extension Accessory.Advertising {
    fileprivate func tree(of device: String) -> JSONTree {
        .members(
            ("name", name == device ? nil : name.map { .text($0) } ?? .null),
            ("services", .list(services.map { .text("\($0)") })),
            ("manufacturerData", manufacturerData.map(\.tree)),
            ("serviceData", .list(serviceData.map(\.tree))),
            ("interval", interval?.tree),
            ("connectable", isConnectable ? nil : .bool(false))
        )
    }
}

extension Accessory.ManufacturerData {
    fileprivate var tree: JSONTree { .members(("company", .number(Double(company))), ("data", data.tree)) }
}

extension Accessory.ServiceData {
    fileprivate var tree: JSONTree { .members(("uuid", .text("\(uuid)")), ("value", value.tree)) }
}

extension Accessory.Security {
    fileprivate var tree: JSONTree {
        .members(
            ("pairing", .bool(allowsPairing)),
            ("io", .text(inputOutput.rawValue)),
            ("fixedAddress", .bool(hasFixedAddress)),
            ("addressLifetime", addressLifetime?.tree)
        )
    }
}

extension Accessory.Service {
    fileprivate var tree: JSONTree {
        .members(
            ("uuid", .text("\(uuid)")),
            ("primary", isPrimary ? nil : .bool(false)),
            ("includes", .list(includes.map { .text("\($0)") })),
            ("characteristics", .list(characteristics.map(\.tree)))
        )
    }
}

extension Accessory.Characteristic {
    fileprivate var tree: JSONTree {
        .members(
            ("uuid", .text("\(uuid)")),
            ("id", id.map { .text($0) }),
            ("properties", .array(Property.allCases.filter(properties.contains).map { .text($0.rawValue) })),
            ("permission", permission),
            ("value", value.parts.isEmpty ? nil : value.tree),
            ("changes", .list(changes.map { .members(("after", $0.after.tree), ("value", $0.value.tree)) })),
            ("repeat", repeatsChanges ? .bool(true) : nil),
            ("notifyEvery", notificationInterval?.tree),
            ("notifyChanges", notifiesChanges ? nil : .bool(false)),
            ("onRead", onRead == Accessory.Response() ? nil : .object(onRead.members)),
            ("onWrite", .list(onWrite.map(\.tree))),
            (
                "descriptors",
                .list(descriptors.map { .members(("uuid", .text("\($0.uuid)")), ("value", $0.value.tree)) })
            )
        )
    }

    private var permission: JSONTree? {
        guard [reading, writing, notifying] != [.plain, .plain, .plain] else { return nil }
        return .members(
            ("read", .text(reading.rawValue)),
            ("write", .text(writing.rawValue)),
            ("notify", .text(notifying.rawValue))
        )
    }
}

extension Accessory.Response {
    fileprivate var members: [String: JSONTree] {
        var members: [String: JSONTree] = [:]
        members["delay"] = delay.treeUnlessZero
        members["fault"] = fault?.tree
        members["everyNth"] = faultPeriod == 1 ? nil : .number(Double(faultPeriod))
        return members
    }
}

extension Accessory.Fault {
    fileprivate var tree: JSONTree {
        switch self {
        case .attError(let code): .members(("attError", .number(Double(code))))
        case .length(let length): .members(("length", .number(Double(length))))
        case .noAnswer: .members(("noAnswer", .bool(true)))
        }
    }
}

extension Accessory.Rule {
    fileprivate var tree: JSONTree {
        var members = response.members
        members["if"] = content?.tree
        members["whenValues"] = .list(
            conditions.map { .members(("characteristic", .text($0.characteristic)), ("value", $0.value.tree)) }
        )
        members["unlessSubscribed"] = .list(missingSubscriptions.map { .text($0) })
        members["then"] = .list(effects.map(\.tree))
        return .object(members)
    }
}

extension Accessory.Content {
    fileprivate var tree: JSONTree {
        switch self {
        case .equals(let value): .members(("equals", value.tree))
        case .beginsWith(let value): .members(("beginsWith", value.tree))
        case .length(let length): .members(("length", .number(Double(length))))
        }
    }
}

extension Accessory.Effect {
    fileprivate var tree: JSONTree {
        .members(
            (verb.rawValue, .text(characteristic)),
            ("value", verb == .cancel ? nil : value.tree),
            ("after", after.treeUnlessZero),
            ("everyNth", period?.tree)
        )
    }
}

extension Accessory.Period {
    fileprivate var tree: JSONTree {
        switch self {
        case .every(let number): .number(Double(number))
        case .value(let reference): .text(reference)
        }
    }
}

extension ScheduledFault {
    fileprivate var tree: JSONTree {
        .members(
            ("fault", .text(fault.text)),
            ("at", start.treeUnlessZero),
            ("until", end?.tree),
            ("onWrite", trigger.map { .text($0) })
        )
    }
}

extension Accessory.HiddenValue {
    fileprivate var tree: JSONTree {
        .members(("id", .text(id)), ("value", value.parts.isEmpty ? nil : value.tree))
    }
}

extension Accessory.Value {
    fileprivate var tree: JSONTree {
        parts.count == 1 ? parts[0].tree : .array(parts.map(\.tree))
    }
}

extension Accessory.Value.Part {
    fileprivate var tree: JSONTree {
        switch self {
        case .octets(let octets): .text(hexadecimal(octets))
        case .text(let text): .members(("text", .text(text)))
        case .number(let format, let number): .members((format.rawValue, .number(number)))
        case .value(let reference): .members(("value", .text(reference)))
        case .size(let reference): .members(("size", .text(reference)))
        case .crc32(let reference): .members(("crc32", .text(reference)))
        case .written(let from, let count):
            .members(
                (
                    "written",
                    .members(
                        ("from", from == 0 ? nil : .number(Double(from))),
                        ("count", count.map { .number(Double($0)) })
                    )
                )
            )
        }
    }
}
