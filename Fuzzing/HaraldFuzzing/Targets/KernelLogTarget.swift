import HCITransports

extension FuzzTarget {
    /// A record of the kernel's log. Any process that may write to `/dev/kmsg` controls it, and it contains names that
    /// devices claim.
    static let kernelLog = FuzzTarget("kernel-log", maximumLength: 2_048, seeds: kernelRecords) { input in
        var input = input
        let octets = input.rest()
        let record = KernelRecord.message(in: octets)
        if let record {
            hold(record.utf8.count <= 3 * octets.count, "a line without input for it")
            hold(!record.contains("\n"), "a line break within a line")
        }
        for line in [record, String(decoding: octets, as: UTF8.self)].compactMap(\.self) {
            guard let complaint = KernelComplaint(line) else { continue }
            hold(complaint.words.count <= KernelComplaint.maximumWords, "text without a limit")
            if let adapter = complaint.adapter {
                hold(adapter.hasPrefix("hci") && adapter.count <= 6, "an invalid adapter")
                hold(line.contains(adapter), "an adapter without input for it")
            }
            if case .firmwareMissing(let file?) = complaint.kind { hold(line.contains(file), "an invented file") }
        }
    }

    private static let kernelRecords: [[UInt8]] = [
        "6,339,5140900,-;Bluetooth: hci0: BCM: chip id 63\n SUBSYSTEM=bluetooth\n DEVICE=+bluetooth:hci0\n",
        "3,340,5140900,-;bluetooth hci0: Direct firmware load for rtl_bt/rtl8761bu_fw.bin failed with error -2\n",
        "3,341,5140900,-;Bluetooth: hci1: Failed to load Intel firmware file intel/ibt-17-16-1.sfi (-2)\n",
        "3,342,5140900,-;Bluetooth: hci0: QCA Failed to download patch (-110)\n",
        "3,343,5140900,-;Bluetooth: hci0: command 0x0c03 tx timeout\n",
        "4,344,5140900,-;Bluetooth: hci0: hardware error 0x42",
    ].map { Array($0.utf8) }
}
