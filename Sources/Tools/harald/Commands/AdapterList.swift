import Administration
import BluetoothTypes
import HCITransports

/// The list of adapters and USB controllers that `harald controllers` prints.
struct AdapterList {
    /// An entry of the JSON output. The field names are stable.
    struct Entry: Encodable, Equatable {
        /// The adapter's number; nil for a controller without a kernel driver.
        let index: UInt16?
        let name: String
        let address: String?
        let bus: String
        let product: String?
        /// The place for `--controller hci:PLACE`, or `usb:PLACE` for a controller without an index.
        let place: String?
        let up: Bool
        let blocked: Bool
        let holder: String
    }

    let entries: [Entry]

    /// Lists the kernel's adapters, and the USB controllers without one.
    init(of adapters: KernelAdapters, usb: USBFinder) throws(ToolError) {
        // Without libusb, only the kernel's adapters are listed.
        let plugged = (try? usb.list()) ?? []
        do throws(UserChannelError) {
            entries = Self.entries(try adapters.list(), plugged)
        } catch {
            guard !plugged.isEmpty else { throw .controllerUnreachable("hci", reason: "\(error)") }
            entries = Self.entries([], plugged)
        }
    }

    private static func entries(_ adapters: [KernelAdapter], _ plugged: [USBDevice]) -> [Entry] {
        let driven = Set(adapters.compactMap(\.attachment))
        return adapters.map(Entry.init) + plugged.filter { !driven.contains("usb-\($0.place)") }.map(Entry.init)
    }

    func show(json: Bool) throws(ToolError) {
        guard json else { return lines.forEach(Console.line) }
        guard let text = JSONText.of(entries) else { throw .service("cannot encode the list as JSON") }
        Console.json(text)
    }

    var lines: [String] {
        guard !entries.isEmpty else { return ["\(UserChannelError.noAdapters)"] }
        return entries.map { entry in
            guard entry.index != nil else {
                return [entry.name, entry.bus, entry.product ?? "", "no kernel driver"].joined(
                    separator: "  "
                )
            }
            let name = [entry.product, entry.place.map { "hci:\($0)" }].compactMap { $0 }
            let state = (entry.up ? "up" : "down") + (entry.blocked ? ", blocked by rfkill" : "")
            return
                ([entry.name, entry.address ?? "no address", entry.bus] + name + [state, Self.describe(entry.holder)])
                .joined(separator: "  ")
        }
    }

    private static func describe(_ holder: String) -> String {
        switch KernelAdapter.Holder(rawValue: holder) {
        case .bluetoothd: "used by bluetoothd"
        case .program: "used exclusively by a program"
        case .kernel, .nobody, nil: "free"
        }
    }
}

extension AdapterList.Entry {
    init(_ adapter: KernelAdapter) {
        self.init(
            index: adapter.index,
            name: adapter.name,
            address: adapter.address?.description,
            bus: adapter.bus,
            product: adapter.product,
            place: adapter.attachment,
            up: adapter.isUp,
            blocked: adapter.isBlocked,
            holder: adapter.holder.rawValue
        )
    }

    init(_ device: USBDevice) {
        self.init(
            index: nil,
            name: "usb:\(device.place)",
            address: nil,
            bus: "USB",
            product: device.name,
            place: device.place,
            up: false,
            blocked: false,
            holder: KernelAdapter.Holder.nobody.rawValue
        )
    }
}
