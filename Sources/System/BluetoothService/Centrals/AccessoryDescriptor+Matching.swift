import BluetoothTypes
import Foundation
import GAP
import ServiceMessages

extension AccessoryDescriptor {
    /// The least signal strength of an accessory right next to this device, in dBm (behaviour 16.4).
    static let immediateRSSI = -45

    /// Whether the advertisement has all traits (behaviour 16.4).
    func matches(_ heard: ReceivedAdvertisement) -> Bool {
        let data = heard.sighting.data
        if let service {
            let found = data.serviceData.filter { $0.service == service }
            guard heard.services.contains(service) || !found.isEmpty else { return false }
            if let serviceBlob, let serviceMask {
                guard found.contains(where: { $0.data.has(serviceBlob, in: serviceMask) }) else { return false }
            }
        }
        if let company {
            let found = data.manufacturerData(of: CompanyIdentifier(rawValue: company))
            guard !found.isEmpty else { return false }
            if let manufacturerBlob, let manufacturerMask {
                guard found.contains(where: { $0.has(manufacturerBlob, in: manufacturerMask) }) else { return false }
            }
        }
        if let nameSubstring, data.localName?.text.range(of: nameSubstring, options: compareOptions) == nil {
            return false
        }
        return !isImmediate || (Self.immediateRSSI...20).contains(heard.sighting.rssi)
    }

    /// The options of the app. A name on the air is compared with a text, and not with a pattern.
    private var compareOptions: String.CompareOptions {
        String.CompareOptions(rawValue: UInt(truncatingIfNeeded: nameOptions)).subtracting(.regularExpression)
    }

    /// What makes the descriptor invalid, or nil (behaviour 16.4).
    var fault: String? {
        if service == nil, company == nil {
            "a descriptor needs bluetoothServiceUUID or bluetoothCompanyIdentifier"
        } else if service == nil, serviceBlob != nil || serviceMask != nil {
            "service data needs bluetoothServiceUUID"
        } else if company == nil, manufacturerBlob != nil || manufacturerMask != nil {
            "manufacturer data needs bluetoothCompanyIdentifier"
        } else if serviceBlob?.count != serviceMask?.count || manufacturerBlob?.count != manufacturerMask?.count {
            "data and its mask need the same length"
        } else {
            nil
        }
    }

    /// The first trait that the app's `Info.plist` does not declare, with its key; nil if all are there (behaviour
    /// 16.2).
    func undeclared(in declaration: SetupDeclaration) -> String? {
        // Apple compares texts. A service in small letters is none (behaviour 16.2).
        if let service,
            !declaration.services.contains(where: { $0 == $0.uppercased() && BluetoothUUID($0) == service })
        {
            return "\(service) in NSAccessorySetupBluetoothServices"
        }
        if let company, !declaration.companies.contains(company) {
            return "\(String(company, radix: 16, uppercase: true)) in NSAccessorySetupBluetoothCompanyIdentifiers"
        }
        if let nameSubstring, !declaration.names.contains(nameSubstring) {
            return "\(nameSubstring.quotedName) in NSAccessorySetupBluetoothNames"
        }
        return nil
    }
}

extension PacketBuffer {
    /// Whether this data begins with `blob` as far as the bits of `mask` are set. Other bits of `blob` have to be clear.
    fileprivate func has(_ blob: PacketBuffer, in mask: PacketBuffer) -> Bool {
        count >= blob.count && zip(zip(self, mask), blob).allSatisfy { $0.0 & $0.1 == $1 }
    }
}
