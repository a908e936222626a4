import BluetoothTypes
import EventLoops
import HCI

extension LESubeventTiming {
    /// 4 subevents, 20 ms apart; response slots of 2.5 ms each, from 5 ms on.
    static let sample = LESubeventTiming(subevents: 4, interval: 16, responseSlotDelay: 4, responseSlotSpacing: 20)
}

extension LESetPeriodicAdvertisingParametersV2 {
    /// An interval of 100 ms, divided as in the sample, with 4 slots.
    static func sample(
        set: UInt8 = 0,
        interval: UInt16 = 80,
        timing: LESubeventTiming = .sample,
        slots: UInt8 = 4,
        properties: LEPeriodicProperties = []
    ) -> Self {
        let v1 = LESetPeriodicAdvertisingParameters(
            set: set,
            intervalMin: interval,
            intervalMax: interval,
            properties: properties
        )
        return Self(v1: v1, timing: timing, responseSlots: slots)
    }
}

extension TestHost {
    /// Starts a train with responses for a set. Each data request from the controller gets `data` for the subevent, or
    /// nothing if it is nil.
    @discardableResult
    func advertiseResponsively(
        _ parameters: LESetPeriodicAdvertisingParametersV2 = .sample(),
        slots: Range<UInt8> = 0..<4,
        on world: LinkLayerWorld,
        _ change: (inout LESetExtendedAdvertisingParameters) -> Void = { _ in },
        data: @escaping (UInt8) -> PacketBuffer? = { [$0, 0xDA] }
    ) -> HCIStatus {
        unmask(Self.newestForms)
        let set = parameters.v1.set
        onEvent = { [unowned self] event in
            guard event.subevent == LEPeriodicAdvertisingSubeventDataRequest.subevent,
                let asked = try? LEPeriodicAdvertisingSubeventDataRequest.reading(event.eventParameters),
                asked.set == set
            else { return }
            world.loop.execute { [unowned self] in
                for index in 0..<UInt16(asked.count) {
                    let number = UInt8((UInt16(asked.first) + index) % UInt16(parameters.timing.subevents))
                    guard let data = data(number) else { continue }
                    let count = UInt8(slots.count)
                    send(
                        LESetPeriodicAdvertisingSubeventData(
                            set: set,
                            subevents: [
                                .init(subevent: number, firstSlot: slots.lowerBound, slots: count, data: data)
                            ]
                        )
                    )
                }
            }
        }
        prepare(set: set, change)
        let status = send(parameters)
        guard status == .success else { return status }
        let enabled = send(LESetPeriodicAdvertisingEnable(enable: .enable, set: set))
        enable([(set, 0, 0)])
        return enabled
    }

    /// Selects subevents of a train, and responds to each of them.
    func listen(
        to sync: UInt16,
        _ subevents: [UInt8],
        properties: LEPeriodicProperties = [],
        on world: LinkLayerWorld,
        respond: @escaping (LEPeriodicAdvertisingReportV2) -> LESetPeriodicAdvertisingResponseData? = { _ in nil }
    ) -> HCIStatus {
        onEvent = { [unowned self] event in
            guard event.subevent == LEPeriodicAdvertisingReportV2.subevent,
                let report = try? LEPeriodicAdvertisingReportV2.reading(event.eventParameters),
                report.dataStatus == .complete, let answer = respond(report)
            else { return }
            world.loop.execute { [unowned self] in responded.append(send(answer)) }
        }
        return send(LESetPeriodicSyncSubevent(sync: sync, properties: properties, subevents: PacketBuffer(subevents)))
    }

    var newTrains: [LEPeriodicAdvertisingSyncEstablishedV2] { events() }
    var subeventReports: [LEPeriodicAdvertisingReportV2] { events() }
    /// The responses received in slots.
    var responses: [(subevent: UInt8, response: LEPeriodicResponse)] {
        events(LEPeriodicAdvertisingResponseReport.self).flatMap { event in
            event.responses.map { (event.periodicSubevent, $0) }
        }
    }
    var newConnections: [LEEnhancedConnectionCompleteV2] { events() }
}

extension LEPeriodicAdvertisingReportV2 {
    /// Creates the response to this report.
    func answer(
        _ data: PacketBuffer,
        slot: UInt8,
        in subevent: UInt8? = nil
    ) -> LESetPeriodicAdvertisingResponseData {
        .init {
            $0.sync = sync
            $0.requestEvent = event
            $0.requestSubevent = periodicSubevent
            $0.responseSubevent = subevent ?? periodicSubevent
            $0.slot = slot
            $0.data = data
        }
    }
}
