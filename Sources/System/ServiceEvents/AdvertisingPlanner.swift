import BluetoothTypes
import ServiceMessages

/// The content that one app advertises.
package struct AdvertisingContent: Hashable, Sendable {
    /// The local name, or nil for none.
    package var localName: String?
    /// The services, the most important first.
    package var services: [BluetoothUUID]
    /// Manufacturer and service data. Each goes on the air completely or not at all (behaviour 15.16).
    package var data: [AdvertisingStructure]
    /// Whether the app is in the background. If so, its services appear in the overflow area only (behaviour 7.24).
    package var isHidden = false

    package init(
        localName: String? = nil,
        services: [BluetoothUUID] = [],
        data: [AdvertisingStructure] = []
    ) {
        self.localName = localName
        self.services = services
        self.data = data
    }
}

/// The advertisement that goes on the air for all apps.
package struct AdvertisingPlan: Hashable, Sendable {
    /// The advertising data, at most 31 octets.
    package var advertisement = AdvertisingData()
    /// The scan response data, at most 31 octets.
    package var scanResponse = AdvertisingData()
    package var overflow: [BluetoothUUID] = []
    package var isNameShortened = false
    /// The octets left for apps in the advertisement, including structure headers.
    package var room = AdvertisingPlanner.advertisementBudget
    /// The octets left for apps in the scan response, including structure headers.
    package var roomBehind = AdvertisingPlanner.scanResponseBudget
    /// Whether all advertising apps are in the background (behaviour 7.24).
    package var isSlow = false
    package var leftOut: [AdvertisingStructure] = []

    /// Adds a structure to the advertisement or to the scan response, whose room it uses up.
    fileprivate mutating func append(_ structure: AdvertisingStructure, inFront: Bool) {
        if inFront {
            advertisement.append(structure)
            room -= structure.encodedLength
        } else {
            scanResponse.append(structure)
            roomBehind -= structure.encodedLength
        }
    }

    /// The part of a shortened name that goes on the air, which may be empty; nil for a whole name, and for none.
    package var shortenedName: String? {
        isNameShortened ? (advertisement.localName ?? scanResponse.localName)?.text ?? "" : nil
    }
}

/// Divides the 31 + 31 octets of a legacy advertisement as an Apple device does (behaviours 7.18 to 7.23, 7.30).
///
/// After its flags the advertisement has 28 octets for the services and then the name, including structure headers. The
/// scan response has 10 octets for the name, and 21 for the overflow area, which represents services that do not fit.
/// For apps in the background there is the overflow area alone, in the advertisement (behaviour 2.31). Data is placed
/// first, wherever there is room: a service can fall back on the overflow area and a name can be shortened, but data
/// has no alternative.
package enum AdvertisingPlanner {
    /// The octets for names and services in the advertisement.
    package static let advertisementBudget = 28
    /// The octets for the name in the scan response.
    package static let scanResponseBudget = 10
    /// LE General Discoverable, and simultaneous LE and BR/EDR in controller and host: 0x1A (behaviour 7.20).
    package static let flags: AdvertisingFlags = [.generalDiscoverable, .simultaneousController, .simultaneousHost]

    /// Plans one advertisement for all apps: the services of all, in order, and the first name.
    package static func plan(for contents: [AdvertisingContent]) -> AdvertisingPlan {
        var plan = AdvertisingPlan()
        let hidden = contents.filter(\.isHidden)
        let contents = contents.filter { !$0.isHidden }
        plan.isSlow = contents.isEmpty && !hidden.isEmpty
        plan.advertisement.append(.flags(flags))
        for structure in contents.flatMap(\.data) { place(structure, in: &plan) }
        place(contents.flatMap(\.services), in: &plan)
        if let name = contents.lazy.compactMap(\.localName).first, !name.isEmpty {
            place(name: name, in: &plan)
        }
        var seen = Set(plan.overflow)
        for service in hidden.flatMap(\.services).map(\.advertisedForm) where seen.insert(service).inserted {
            plan.overflow.append(service)
        }
        if !plan.overflow.isEmpty { place(OverflowArea(plan.overflow), in: &plan) }
        return plan
    }

    /// If all apps are in the background, the area goes in the advertisement, where passive scanners receive it.
    /// Otherwise it has its own room in the scan response (behaviours 2.31, 2.37).
    private static func place(_ area: OverflowArea, in plan: inout AdvertisingPlan) {
        guard plan.isSlow else { return plan.scanResponse.append(area.structure) }
        plan.advertisement.append(area.structure)
        plan.room -= OverflowArea.encodedLength
    }

    private static func place(_ structure: AdvertisingStructure, in plan: inout AdvertisingPlan) {
        if structure.encodedLength <= plan.room {
            plan.append(structure, inFront: true)
        } else if structure.encodedLength <= plan.roomBehind {
            plan.append(structure, inFront: false)
        } else {
            plan.leftOut.append(structure)
        }
    }

    /// Places services in the order of the app as long as there is room, in one list per UUID width.
    private static func place(_ services: [BluetoothUUID], in plan: inout AdvertisingPlan) {
        var placed: [BluetoothUUID.Width: [BluetoothUUID]] = [:]
        var overflowing: Set<BluetoothUUID.Width> = []
        var seen: Set<BluetoothUUID> = []
        for service in services.map(\.advertisedForm) where seen.insert(service).inserted {
            let width = service.width
            let cost = width.octets + (placed[width] == nil ? AdvertisingData.headerLength : 0)
            if cost <= plan.room {
                placed[width, default: []].append(service)
                plan.room -= cost
            } else {
                plan.overflow.append(service)
                overflowing.insert(width)
            }
        }
        for width: BluetoothUUID.Width in [.bits16, .bits32, .bits128] {
            guard let uuids = placed[width] else { continue }
            plan.advertisement.append(.services(uuids, width: width, isComplete: !overflowing.contains(width)))
        }
    }

    /// Places the name where it fits, preferably in the advertisement, or else where most of it fits (behaviour 7.21).
    private static func place(name: String, in plan: inout AdvertisingPlan) {
        let header = AdvertisingData.headerLength
        let inFront = shorten(name, to: plan.room - header)
        let behind = shorten(name, to: plan.roomBehind - header)
        let goesInFront =
            !inFront.isShortened || (behind.isShortened && inFront.text.utf8.count >= behind.text.utf8.count)
        let chosen = goesInFront ? inFront : behind
        plan.isNameShortened = chosen.isShortened
        if !chosen.text.isEmpty { plan.append(.localName(chosen), inFront: goesInFront) }
    }

    /// Returns as many whole characters as fit in `octets` octets of UTF-8.
    static func shorten(_ name: String, to octets: Int) -> AdvertisingData.LocalName {
        guard name.utf8.count > octets else { return AdvertisingData.LocalName(name) }
        var text = ""
        var length = 0
        for character in name {
            length += character.utf8.count
            guard length <= octets else { break }
            text.append(character)
        }
        return AdvertisingData.LocalName(text, isShortened: true)
    }
}

extension BluetoothUUID {
    /// The same UUID in the width of the list that has it: 128 bits if it was written so (behaviour 7.23).
    var advertisedForm: BluetoothUUID { width == .bits128 ? self : shortest }

    /// The same UUID in the shortest form for which advertising data has a list.
    package var shortest: BluetoothUUID {
        if let short = uint16 { return BluetoothUUID(short) }
        return shortValue.map { BluetoothUUID(bits32: $0) } ?? expanded
    }
}
