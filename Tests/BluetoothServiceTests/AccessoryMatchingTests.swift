import BluetoothTypes
import Foundation
import GAP
import ServiceMessages
import Testing

@testable import BluetoothService

/// Which accessories a descriptor matches, and which descriptors an app may use.
@Suite struct AccessoryMatchingTests {
    private func heard(_ structures: [AdvertisingStructure], rssi: Int = -60) -> ReceivedAdvertisement {
        ReceivedAdvertisement(
            Sighting(
                address: BluetoothAddress(0xC0FF_EE00_0001, kind: .randomDevice),
                data: AdvertisingData(structures),
                isConnectable: true,
                hasScanResponse: true,
                rssi: rssi
            )
        )
    }

    private func descriptor(_ change: (inout AccessoryDescriptor) -> Void) -> AccessoryDescriptor {
        var descriptor = AccessoryDescriptor()
        change(&descriptor)
        return descriptor
    }

    @Test("behaviour 16.4: all traits have to match: service, company, name and range")
    func allTraitsMatch() {
        let belt = heard([
            .services([0x180D], width: .bits16, isComplete: true), .serviceData(0x180F, [1, 2, 3]),
            .manufacturerData(CompanyIdentifier(rawValue: 0x012D), [7, 8, 9]), .localName(.init("Belt 7")),
        ])
        #expect(descriptor { $0.service = 0x180D }.matches(belt))
        #expect(descriptor { $0.service = 0x180F }.matches(belt))
        #expect(!descriptor { $0.service = 0x1810 }.matches(belt))
        #expect(descriptor { $0.company = 0x012D }.matches(belt))
        #expect(!descriptor { $0.company = 0x2D01 }.matches(belt))
        #expect(!descriptor { ($0.service, $0.company) = (0x180D, 0x0059) }.matches(belt))
        #expect(descriptor { $0.nameSubstring = "elt" }.matches(belt))
        #expect(!descriptor { $0.nameSubstring = "BELT" }.matches(belt))
        #expect(!descriptor { $0.nameSubstring = "B.*7" }.matches(belt))
        let options = String.CompareOptions([.caseInsensitive, .regularExpression])
        func named(_ name: String) -> AccessoryDescriptor {
            descriptor { ($0.nameSubstring, $0.nameOptions) = (name, UInt64(options.rawValue)) }
        }
        #expect(named("BELT").matches(belt))
        #expect(!named("B.*7").matches(belt))
        #expect(!descriptor { $0.isImmediate = true }.matches(belt))
        #expect(descriptor { $0.isImmediate = true }.matches(heard([], rssi: -45)))
        #expect(!descriptor { $0.isImmediate = true }.matches(heard([], rssi: 127)))
    }

    @Test("behaviour 16.4: data match under a mask, up to the length of the advertised data, with other bits clear")
    func dataMatchUnderAMask() {
        let belt = heard([
            .serviceData(0x180F, [1, 2, 3]), .manufacturerData(CompanyIdentifier(rawValue: 0x012D), [7, 8, 9]),
        ])
        for (blob, mask, isFound) in [
            ([7, 8, 9], [255, 255, 255], true), ([7, 8], [255, 255], true), ([7, 0, 9], [255, 0, 255], true),
            ([7, 8, 9], [255, 0, 255], false), ([7, 8, 9, 0], [255, 255, 255, 0], false), ([6], [255], false),
        ] as [(PacketBuffer, PacketBuffer, Bool)] {
            let found = descriptor {
                ($0.company, $0.manufacturerBlob, $0.manufacturerMask) = (0x012D, blob, mask)
            }
            #expect(found.matches(belt) == isFound, "\(blob)")
        }
        #expect(descriptor { ($0.service, $0.serviceBlob, $0.serviceMask) = (0x180F, [1], [255]) }.matches(belt))
        #expect(!descriptor { ($0.service, $0.serviceBlob, $0.serviceMask) = (0x180F, [2], [255]) }.matches(belt))
    }

    @Test("behaviour 16.4: which descriptors are not valid")
    func faults() {
        #expect(descriptor { $0.service = 0x180D }.fault == nil)
        #expect(descriptor { $0.company = 1 }.fault == nil)
        #expect(descriptor { ($0.company, $0.manufacturerBlob, $0.manufacturerMask) = (1, [1], [1]) }.fault == nil)
        for wrong in [
            descriptor { _ in }, descriptor { $0.nameSubstring = "Belt" },
            descriptor { ($0.company, $0.serviceBlob, $0.serviceMask) = (1, [1], [1]) },
            descriptor { ($0.service, $0.manufacturerBlob, $0.manufacturerMask) = (0x180D, [1], [1]) },
            descriptor { ($0.company, $0.manufacturerBlob) = (1, [1]) },
            descriptor { ($0.service, $0.serviceBlob, $0.serviceMask) = (0x180D, [1, 2], [1]) },
        ] {
            #expect(wrong.fault != nil, "\(wrong)")
        }
    }

    @Test("behaviour 16.2: the keys of the property list; services count in capitals, companies in hexadecimal")
    func declarations() throws {
        for key in ["NSAccessorySetupKitSupports", "NSAccessorySetupSupports"] {
            let declaration = AppDeclaration(propertyList: [
                key: ["WiFi", "Bluetooth"],
                "NSAccessorySetupBluetoothServices": ["180D", "180f", "ABCDEF12-3456-7890-ABCD-EF1234567890"],
                "NSAccessorySetupBluetoothNames": ["Belt"],
                "NSAccessorySetupBluetoothCompanyIdentifiers": ["012D", 89, "x"] as [Any],
            ])
            let setup = try #require(declaration.setup)
            #expect(declaration.usesAccessorySetup)
            #expect(setup.companies == [0x012D, 89])
            let allowed: [AccessoryDescriptor] = [
                descriptor { $0.service = 0x180D }, descriptor { ($0.company, $0.nameSubstring) = (89, "Belt") },
                descriptor { $0.service = BluetoothUUID("ABCDEF12-3456-7890-ABCD-EF1234567890") },
            ]
            for each in allowed { #expect(each.undeclared(in: setup) == nil, "\(each)") }
            #expect(
                descriptor { $0.service = 0x180F }.undeclared(in: setup) == "180F in NSAccessorySetupBluetoothServices"
            )
            #expect(descriptor { $0.company = 90 }.undeclared(in: setup)?.hasPrefix("5A") == true)
            #expect(descriptor { $0.nameSubstring = "Bel" }.undeclared(in: setup)?.contains("Names") == true)
        }
        #expect(AppDeclaration(propertyList: ["NSAccessorySetupKitSupports": ["WiFi"]]).setup == nil)
    }
}
