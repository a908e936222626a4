import HCITransports
import Testing

@testable import harald

/// Driver messages, as users have posted them.
@Suite struct KernelLogTests {
    static let missing: [(String, String, String)] = [
        (
            "bluetooth hci0: Direct firmware load for rtl_bt/rtl8761bu_fw.bin failed with error -2",
            "rtl_bt/rtl8761bu_fw.bin", "realtek"
        ),
        ("Bluetooth: hci0: RTL: firmware file rtl_bt/rtl8852cu_fw not found", "rtl_bt/rtl8852cu_fw", "realtek"),
        (
            "Bluetooth: hci0: Failed to load Intel firmware file intel/ibt-17-16-1.sfi (-2)", "intel/ibt-17-16-1.sfi",
            "iwlwifi"
        ),
        ("Bluetooth: hci0: Failed to load Intel firmware file (-2)", "", "iwlwifi"),
        ("Bluetooth: hci0: QCA Failed to request file: qca/htbtfw20.tlv (-2)", "qca/htbtfw20.tlv", "atheros"),
        (
            "Bluetooth: hci0: failed to request rampatch file: qca/rampatch_usb_00000302.bin (-2)",
            "qca/rampatch_usb_00000302.bin", "atheros"
        ),
    ]

    @Test(arguments: missing)
    func missingFirmwareIsFound(line: String, file: String, package: String) throws {
        let found = try #require(Check.complaint(line))
        #expect(found.code == "firmware-missing")
        #expect(found.severity == .problem)
        #expect(found.place == "hci0")
        #expect(found.what.contains(file))
        #expect(found.remedy?.contains(package) == true)
    }

    @Test("an endless line is truncated")
    func aLineWithoutEndIsCut() throws {
        let line = "Bluetooth: hci0: command 0x0c03 tx timeout" + String(repeating: " é", count: 10_000)
        let complaint = try #require(KernelComplaint(line))
        #expect(complaint.adapter == "hci0")
        #expect(complaint.words.count == KernelComplaint.maximumWords)
    }

    @Test func aPatchThatIsMissingIsAWeakness() throws {
        let found = try #require(Check.complaint("Bluetooth: hci1: BCM: firmware Patch file not found, tried:"))
        #expect(found.severity == .weakness)
        #expect(found.place == "hci1")
    }

    @Test(arguments: [
        "Bluetooth: hci0: Failed to send firmware data (-38)",
        "Bluetooth: hci0: Reading Intel version information failed (-22)",
        "Bluetooth: hci0: RTL: download fw command failed (-110)",
        "Bluetooth: hci0: QCA Failed to download patch (-110)",
    ])
    func firmwareThatDidNotGoInIsFound(line: String) throws {
        let found = try #require(Check.complaint(line))
        #expect(
            found.code == "firmware-failed" && found.place == "hci0" && found.what.contains("failed")
                || found.what.contains("Failed")
        )
    }

    @Test func aControllerThatFailedBeforeIsFound() throws {
        let found = try #require(Check.complaint("Bluetooth: hci0: command 0x0c03 tx timeout"))
        #expect(found.code == "controller-failed")
        #expect(found.severity == .note)
    }

    @Test(arguments: [
        "Bluetooth: hci0: RTL: loading rtl_bt/rtl8761bu_fw.bin", "Bluetooth: Core ver 2.22",
        "bluetooth hci0: Direct firmware load for rtl_bt/rtl8761bu_config.bin failed with error -2",
        "iwlwifi 0000:00:14.3: Direct firmware load for iwlwifi-so-a0-gf-a0-39.ucode failed with error -2",
        "Bluetooth: hci0: Found device firmware: intel/ibt-19-0-4.sfi", "", "bluetooth",
    ])
    func otherLinesAreLeftOut(line: String) {
        #expect(Check.complaint(line) == nil)
    }

    @Test func theSameIsToldOnce() {
        var facts = MachineFacts()
        facts.log = .lines(
            Array(repeating: Self.missing[0].0, count: 5) + ["Bluetooth: hci1: command 0x0c03 tx timeout"]
        )
        #expect(Check.log(facts).map(\.place) == ["hci0", "hci1"])
        #expect(Diagnosis(of: facts).findings.map(\.code).contains("firmware-missing"))
        facts.log = .unreadable
        #expect(Check.log(facts).map(\.code) == ["log-unreadable"])
        #expect(Check.log(facts).allSatisfy { $0.severity == .note })
    }

    @Test func recordsAreReadForWhatIsBehindTheirHeader() {
        let record = Array("6,339,5140900,-;Bluetooth: hci0: BCM: chip id 63\n SUBSYSTEM=bluetooth\n".utf8)
        #expect(KernelRecord.message(in: record) == "Bluetooth: hci0: BCM: chip id 63")
        #expect(KernelRecord.message(in: Array("6,340,5140900,-;usb 1-2: new device\n".utf8)) == nil)
        #expect(KernelRecord.message(in: Array("bluetooth".utf8)) == nil)
        #expect(KernelRecord.message(in: []) == nil)
    }
}
