import AppAdvice
import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages
import Testing

@testable import Administration
@testable import BluetoothService
@testable import harald

/// The output of `harald monitor`.
@Suite struct MonitorTests {
    private static let peer = UUID([UInt8](repeating: 0x8E, count: 16))
    /// 22:20:33.404 UTC.
    private static let date = Date(timeIntervalSince1970: 80_433.404)

    private func event(
        _ content: Observation.Content,
        app: String? = "heart-rate",
        manager: UInt32? = 1,
        peer: UUID? = nil
    ) -> String {
        let subject = Observation.Subject(
            app: app.map { AppIdentity(name: $0, owner: 7) },
            manager: manager.map { ManagerID($0) },
            peer: peer
        )
        let observation = Observation(number: 1, time: .zero, cause: nil, subject: subject, content: content)
        return JSONText.of(MonitoredEvent(observation, showsContents: true)) ?? ""
    }

    /// The lines for some events, without the time.
    private func lines(_ events: [String], _ form: MonitorForm = .words) -> [String] {
        var lines: [String] = []
        let printer = MonitorPrinter(form) { lines.append($0) }
        for event in events { printer.show(event, now: Self.date) }
        guard form == .words || form == .story else { return lines }
        #expect(lines.allSatisfy { $0.contains(#/^\d\d:\d\d:33\.404 /#) }, "\(lines)")
        return lines.map { String($0.dropFirst(13)) }
    }

    private func told(_ event: PeerEvent) -> String { self.event(.delivered(.central(.peer(Self.peer, event)))) }

    private func asked(_ request: LinkRequest) -> String {
        event(.requested(.central(.peer(Self.peer, .link(request)))))
    }

    private var discovery: String {
        var advertisement = Advertisement()
        advertisement.serviceUUIDs = [0x180D]
        advertisement.manufacturerData = [0x59, 0x00, 0x01, 0x02]
        advertisement.serviceData = [0x180F: [0x64]]
        advertisement.txPowerLevel = -4
        let peer = PeerInfo(identifier: Self.peer, name: "Pulse")
        return event(.delivered(.central(.discovered(peer, advertisement, rssi: -40))))
    }

    @Test func aSessionIsPutIntoWords() {
        let rate = RemoteCharacteristic(handle: 16, uuid: 0x2A37, properties: 0x10)
        let service = RemoteService(handle: 14, endHandle: 20, uuid: 0x180D, isPrimary: true)
        let session = [
            event(.requested(.central(.startScan(ScanRequest(services: [0x180D]))))), discovery,
            event(.requested(.central(.peer(Self.peer, .connect(ConnectOptions()))))),
            told(.connected(name: "Pulse", maximumWriteWithoutResponse: 20)),
            told(.servicesDiscovered(.success([service]))),
            asked(.discoverCharacteristics(of: 14, [0x2A37])),
            told(.characteristicsDiscovered(of: 14, .success([rate]))),
            asked(.setNotify(16, isEnabled: true)),
            told(.valueNotified(16, [0x0E, 0x4D, 0x03, 0x00])),
            told(.valueRead(99, .success([0xFF]))),
            asked(.readRSSI), told(.rssiRead(.success(-41))),
            told(
                .disconnected(
                    ServiceError(.connectionTimeout, reason: "it left\u{7}"),
                    isReconnecting: false,
                    timestamp: nil
                )
            ),
        ]
        #expect(
            lines(session) == [
                "heart-rate → start scan, services Heart Rate (180D)",
                #"heart-rate ← discovered "Pulse" -40 dBm, services Heart Rate (180D), "#
                    + #"manufacturer Nordic Semiconductor ASA (0x0059): 0102, data of Battery (180F): 64 "d", tx power -4 dBm"#,
                #"heart-rate → connect "Pulse""#,
                #"heart-rate ← connected "Pulse""#,
                #"heart-rate ← services discovered "Pulse", Heart Rate (180D)"#,
                #"heart-rate → discover characteristics "Pulse", Heart Rate (180D), characteristics Heart Rate Measurement (2A37)"#,
                #"heart-rate ← characteristics discovered "Pulse", Heart Rate (180D), Heart Rate Measurement (2A37)"#,
                #"heart-rate → set notify "Pulse" on, Heart Rate Measurement (2A37)"#,
                #"heart-rate ← value notified "Pulse", Heart Rate Measurement (2A37): 77 bpm, contact, energy 3 kJ"#,
                #"heart-rate ← value read "Pulse", attribute 0x63: ff"#,
                #"heart-rate → read RSSI "Pulse""#, #"heart-rate ← rssi read "Pulse" -41 dBm"#,
                #"heart-rate ← disconnected "Pulse", failed: it left\u{7}"#,
            ]
        )
    }

    @Test("events that repeat are printed once more when their series ends, and flow control is not printed")
    func aStory() {
        let values = (60..<70).map { told(.valueNotified(16, [0, $0])) }
        let end = told(.disconnected(nil, isReconnecting: false, timestamp: nil))
        let shown = lines(values + [told(.writeCreditsReturned(1)), end], .story)
        #expect(shown.count == 3)
        #expect(shown.allSatisfy { $0.hasPrefix("heart-rate ← ") })
        #expect(shown.first?.contains("value notified 8E8E8E8E, attribute 0x10: 003c") == true)
        #expect(shown.dropFirst().first?.contains(", 9 more times since ") == true)
        #expect(shown.last == "heart-rate ← disconnected 8E8E8E8E")
        #expect(lines(values, .words).count == 10)
    }

    @Test("the text of a message in JSON is in the words of the other form, and names come from messages not shown")
    func theTextInJSON() throws {
        let events = [discovery, event(.requested(.central(.peer(Self.peer, .connect(ConnectOptions())))))]
        let texts = try lines(events, .json).map {
            try JSONDecoder().decode(MonitoredEvent.self, from: Data($0.utf8)).text
        }
        #expect(texts.last == #"→ connect "Pulse""#)
        var shown: [String] = []
        let printer = MonitorPrinter(.words, kinds: try MonitoredKinds("links")) { shown.append($0) }
        for each in events + [event(.linkMade, app: nil, manager: nil, peer: Self.peer)] {
            printer.show(each, now: Self.date)
        }
        #expect(shown.map { $0.dropFirst(13) } == [#""Pulse": the link was established"#])
    }

    @Test func aPeripheralIsPutIntoWords() {
        let rate = LocalCharacteristic(id: LocalAttributeID(2), uuid: 0x2A37, properties: 0x10, permissions: 1)
        let service = LocalService(id: LocalAttributeID(1), uuid: 0x180D, isPrimary: true, characteristics: [rate])
        let central = CentralInfo(identifier: Self.peer, maximumUpdateLength: 20)
        let session = [
            event(.requested(.peripheral(.addService(service)))),
            event(.delivered(.peripheral(.serviceAdded(service.id, nil)))),
            event(
                .requested(.peripheral(.startAdvertising(AdvertisingRequest(localName: "Pulse", services: [0x180D]))))
            ),
            event(.delivered(.peripheral(.subscribed(central, rate.id)))),
            event(.requested(.peripheral(.updateValue(rate.id, value: [0, 72], centrals: nil)))),
            // Another manager's attribute with the same number.
            event(.delivered(.peripheral(.subscribed(central, rate.id))), manager: 2),
        ]
        #expect(
            lines(session) == [
                "heart-rate → add service, Heart Rate (180D), Heart Rate Measurement (2A37)",
                "heart-rate ← service added, Heart Rate (180D)",
                #"heart-rate → start advertising as "Pulse", services Heart Rate (180D)"#,
                "heart-rate ← subscribed 8E8E8E8E, Heart Rate Measurement (2A37)",
                "heart-rate → update value, Heart Rate Measurement (2A37): 72 bpm",
                "heart-rate/2 ← subscribed 8E8E8E8E, attribute 0x2",
            ]
        )
    }

    @Test func otherEventsHaveTheirText() {
        let events = [
            event(.stateChanged(.poweredOn), app: nil, manager: nil), event(.managerClosed, app: "a\u{1B}"),
            event(.linkMade, app: nil, manager: nil, peer: Self.peer),
            event(.delivered(.stateChanged(.poweredOff))),
        ]
        #expect(
            lines(events) == [
                "Bluetooth is on", "a\\u{1b}: the manager was closed", "8E8E8E8E: the link was established",
                "heart-rate ← state changed poweredOff",
            ]
        )
    }

    @Test func rawEventsAndJSONHaveAllFields() throws {
        #expect(
            lines([discovery], .raw).first?.hasPrefix("0.000000 messages heart-rate/1 event, kind: central") == true
        )
        let line = try #require(lines([discovery], .json).first)
        let parsed = try JSONDecoder().decode(MonitoredEvent.self, from: Data(line.utf8))
        #expect(parsed.date == 80_433.404)
        let message = try #require(parsed.message)
        #expect(message.direction == .event && message.name == "discovered")
        #expect(message.peer == Self.peer && message.peerName == "Pulse" && message.rssi == -40)
        #expect(message.services == ["180D"] && message.manufacturerData == "59000102")
        #expect(message.serviceData == ["180F": "64"] && message.txPower == -4 && message.isConnectable == false)
    }

    @Test func undecodableLinesArePrinted() {
        #expect(MonitorPrinterOutput.of("{\"a\": \"\u{1B}\"}") == ["{\"a\": \"\\u001b\"}"])
    }

    @Test func namesInCamelCaseBecomeWords() {
        #expect(MonitorWords.spaced("servicesDiscovered") == "services discovered")
        #expect(MonitorWords.spaced("readRSSI") == "read RSSI")
        #expect(MonitorWords.spaced("setNotify") == "set notify")
        #expect(MonitorWords.spaced("") == "")
        #expect(MonitorWords.clock(.nan) == "??:??:??.???" && MonitorWords.clock(-1) == "??:??:??.???")
        #expect(MonitorWords.clock(59.999_9).hasSuffix(":01:00.000"))
    }
}

private enum MonitorPrinterOutput {
    static func of(_ text: String) -> [String] {
        var lines: [String] = []
        MonitorPrinter(.words) { lines.append($0) }.show(text, now: Date(timeIntervalSince1970: 0))
        return lines
    }
}
