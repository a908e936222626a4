import AssignedNumbers
import CoreBluetooth
import Demos
import Foundation
import HCI
import Testing

@testable import Administration
@testable import harald

/// Names and words in the output of the tool.
@Suite struct NamesTests {
    @Test(
        "the capture of the other side lies beside the one that was named, by the same kind of path",
        arguments: [
            ("heart.btsnoop", "heart.sensor.btsnoop"), ("../a.b/heart", "../a.b/heart.sensor"),
            ("/tmp/a.b/heart.1.btsnoop", "/tmp/a.b/heart.1.sensor.btsnoop"),
            ("./heart.btsnoop", "./heart.sensor.btsnoop"),
        ]
    )
    func theOtherSidesCapture(path: String, other: String) {
        #expect(CaptureFile.sibling(of: path, named: "sensor") == other)
    }

    @Test func uuidsHaveTheirNames() {
        #expect(describe(CBUUID(string: "180D")) == "Heart Rate (180D)")
        #expect(describe(CBUUID(string: "6e6f7465-0000-4861-7261-6c6420303031")).hasPrefix("Notes ("))
        #expect(describe(CBUUID(string: "FFFF")) == "FFFF")
        #expect(assignedName("2A9D") == "Weight Measurement")
        #expect(assignedName("?") == nil)
    }

    @Test func theControllerHasAVersionAndAManufacturer() {
        func words(_ version: Int, _ company: Int) -> String {
            ControllerStatus(
                place: "hci0",
                company: company,
                version: version,
                subversion: 0,
                hasExtendedAdvertising: true,
                hasLongPackets: true,
                buffers: 1,
                resolvingListSize: 0
            ).words
        }
        #expect(words(12, 0x59) == "Bluetooth 5.3 (HCI 12), manufacturer Nordic Semiconductor ASA (0x0059)")
        #expect(words(99, 0xFFFF) == "HCI 99, manufacturer 0xFFFF")
    }

    @Test func anAdvertisementDictionaryIsPutIntoWords() {
        let many = (0..<200).map { CBUUID(string: String(0xA000 + $0, radix: 16)) }
        let dictionary: [String: Any] = [
            CBAdvertisementDataLocalNameKey: "Pulse",
            CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "180D")],
            CBAdvertisementDataManufacturerDataKey: Data([0x59, 0x00, 0x01, 0x02]),
            CBAdvertisementDataServiceDataKey: [CBUUID(string: "180F"): Data([0xFF])],
            CBAdvertisementDataTxPowerLevelKey: NSNumber(value: -4),
            CBAdvertisementDataIsConnectable: NSNumber(value: true),
        ]
        #expect(
            AdvertisementText.words(of: dictionary) == [
                "services Heart Rate (180D)", "manufacturer Nordic Semiconductor ASA (0x0059): 0102",
                "data of Battery (180F): ff", "tx power -4 dBm",
            ]
        )
        #expect(AdvertisementText.words(of: [CBAdvertisementDataServiceUUIDsKey: "wrong"]).isEmpty)
        let words = AdvertisementText.words(of: [CBAdvertisementDataServiceUUIDsKey: many])
        #expect(words.count == 1 && words.first?.hasSuffix("A0C7") == true)
    }
}
