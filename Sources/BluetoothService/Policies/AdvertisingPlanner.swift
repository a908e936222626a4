import BluetoothTypes

/// What one app wants to be found by.
package struct AdvertisingContent: Hashable, Sendable {
    /// The name; nil for none.
    package var localName: String?
    /// The services, the most important first.
    package var services: [BluetoothUUID]
    /// Manufacturer and service data, which go on the air whole or not at all (behaviour 15.16).
    package var data: [AdvertisingStructure]
    /// Whether the app is in the background: only the overflow area hints at its services (behaviour 7.24).
    package var isHidden = false

    /// A name, services, data, or some of these.
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

/// What goes on the air.
package struct AdvertisingPlan: Hashable, Sendable {
    /// The data of the advertisement, at most 31 octets.
    package var advertisement = AdvertisingData()
    /// The data of the scan response, at most 31 octets.
    package var scanResponse = AdvertisingData()
    /// Services that only the overflow area hints at.
    package var overflow: [BluetoothUUID] = []
    /// Whether not all of the name found room.
    package var isNameShortened = false
    /// Octets that are left for apps in the advertisement, headers counted.
    package var room = AdvertisingPlanner.advertisementBudget
    /// Octets that are left for apps in the scan response, headers counted.
    package var roomBehind = AdvertisingPlanner.scanResponseBudget
    /// Whether all that is advertised is of apps in the background (behaviour 7.24).
    package var isSlow = false
    /// Data that found no room.
    package var leftOut: [AdvertisingStructure] = []
}

/// Divides the 31 + 31 octets of a legacy advertisement as an Apple device does (behaviours 7.18 to 7.23, 7.30).
///
/// The advertisement has 28 octets behind its flags for services and then the name, structure headers counted. The scan
/// response has 10 for the name and 21 for the overflow area, which stands for the services that found no room. Apps in the background have
/// the overflow area alone, in the advertisement (behaviour 2.31). Data go first,
/// wherever there is room: a service has the overflow area and a name can be shortened, and data have nothing else.
package enum AdvertisingPlanner {
    /// Octets for names and services in the advertisement.
    package static let advertisementBudget = 28
    /// Octets for the name in the scan response.
    package static let scanResponseBudget = 10
    /// General discoverable, and Bluetooth Classic at the same time: 0x1A (behaviour 7.20).
    package static let flags: AdvertisingFlags = [.generalDiscoverable, .simultaneousController, .simultaneousHost]

    /// Plans for all apps together: the services of all, in order, and the first name.
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
        for service in hidden.flatMap(\.services).map(\.shortest) where seen.insert(service).inserted {
            plan.overflow.append(service)
        }
        if !plan.overflow.isEmpty { place(OverflowArea(plan.overflow), in: &plan) }
        return plan
    }

    /// Of apps in the background alone the area is in the advertisement, where passive scanners find it; beside what an app in the
    /// foreground shows it has its own room in the scan response (behaviours 2.31, 2.37).
    private static func place(_ area: OverflowArea, in plan: inout AdvertisingPlan) {
        guard plan.isSlow else { return plan.scanResponse.append(area.structure) }
        plan.advertisement.append(area.structure)
        plan.room -= OverflowArea.encodedLength
    }

    private static func place(_ structure: AdvertisingStructure, in plan: inout AdvertisingPlan) {
        let cost = structure.encodedLength
        if cost <= plan.room {
            plan.advertisement.append(structure)
            plan.room -= cost
        } else if cost <= plan.roomBehind {
            plan.scanResponse.append(structure)
            plan.roomBehind -= cost
        } else {
            plan.leftOut.append(structure)
        }
    }

    /// Services go in by the order of the app as long as there is room, a list for each width.
    private static func place(_ services: [BluetoothUUID], in plan: inout AdvertisingPlan) {
        var placed: [BluetoothUUID.Width: [BluetoothUUID]] = [:]
        var overflowing: Set<BluetoothUUID.Width> = []
        var seen: Set<BluetoothUUID> = []
        for service in services.map(\.shortest) where seen.insert(service).inserted {
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

    /// The name goes where all of it fits, the advertisement first; otherwise where most of it fits (behaviour 7.21).
    private static func place(name: String, in plan: inout AdvertisingPlan) {
        let header = AdvertisingData.headerLength
        let inFront = shorten(name, to: plan.room - header)
        let behind = shorten(name, to: plan.roomBehind - header)
        let goesInFront =
            !inFront.isShortened || (behind.isShortened && inFront.text.utf8.count >= behind.text.utf8.count)
        let chosen = goesInFront ? inFront : behind
        plan.isNameShortened = chosen.isShortened
        guard !chosen.text.isEmpty else { return }
        let structure = AdvertisingStructure.localName(chosen)
        if goesInFront {
            plan.advertisement.append(structure)
            plan.room -= structure.encodedLength
        } else {
            plan.scanResponse.append(structure)
            plan.roomBehind -= structure.encodedLength
        }
    }

    /// As many whole characters as `octets` hold in UTF-8.
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
    /// The same UUID in the fewest octets that advertising data has a list for.
    var shortest: BluetoothUUID {
        if let short = uint16 { return BluetoothUUID(short) }
        return shortValue.map { BluetoothUUID(bits32: $0) } ?? expanded
    }
}
