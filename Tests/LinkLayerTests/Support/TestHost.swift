import BluetoothTypes
import ControllerStandIns
import Cryptography
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// A host that sends raw commands and records what comes back.
final class TestHost {
    let controller: VirtualController
    private let line: TestTransport
    private let world: LinkLayerWorld
    private(set) var packets: [(at: Instant, packet: HCIPacket)] = []
    /// Whether it accepts the peer's connection parameter requests automatically.
    var acceptsParameters = true
    /// The key that it gives for every peer that asks; nil for none.
    var longTermKey: Key128?
    /// Whether it answers key requests automatically.
    var answersKeyRequests = true
    /// Called with each ACL packet.
    var onData: ((ACLPacket) -> Void)?
    /// The statuses returned for its responses to trains.
    var responded: [HCIStatus] = []
    /// Called with each event.
    var onEvent: ((EventPacket) -> Void)?

    init(_ world: LinkLayerWorld, at position: Position, configure: (inout VirtualControllerConfiguration) -> Void) {
        self.world = world
        let number = UInt64(world.hosts.count) + 1
        var configuration = VirtualControllerConfiguration(
            publicAddress: BluetoothAddress(0xC0FF_EE00_0000 + number, kind: .publicDevice)
        )
        configure(&configuration)
        line = TestTransport(loop: world.loop)
        controller = VirtualController(
            transport: line,
            node: world.radio.add(at: position),
            loop: world.loop,
            random: world.random.split(number),
            configuration: configuration
        )
        line.onSend = { [unowned self] in receive($0) }
    }

    var address: BluetoothAddress { controller.configuration.publicAddress }

    private func receive(_ packet: HCIPacket) {
        packets.append((world.loop.now, packet))
        if packet.kind == .acl, let data = try? ACLPacket(reading: packet.bytes) { onData?(data) }
        guard packet.kind == .event, let event = try? EventPacket(reading: packet.bytes) else { return }
        if acceptsParameters, event.subevent == LERemoteConnectionParameterRequest.subevent,
            let asked = try? LERemoteConnectionParameterRequest.reading(event.eventParameters)
        {
            world.loop.execute { [unowned self] in accept(asked) }
        }
        if answersKeyRequests, event.subevent == LELongTermKeyRequest.subevent,
            let asked = try? LELongTermKeyRequest.reading(event.eventParameters)
        {
            world.loop.execute { [unowned self] in answer(asked.handle) }
        }
        onEvent?(event)
    }

    /// Gives the controller the key, or replies that there is none.
    @discardableResult
    func answer(_ handle: ConnectionHandle) -> HCIStatus {
        guard let longTermKey else { return send(LELongTermKeyRequestNegativeReply(handle: handle)) }
        let key = PacketBuffer(longTermKey.littleEndianBytes)
        return send(LELongTermKeyRequestReply(handle: handle, longTermKey: key))
    }

    /// Accepts the peer's connection parameter request.
    func accept(_ asked: LERemoteConnectionParameterRequest) {
        let interval = asked.intervalMin...asked.intervalMax
        accept(asked.handle, interval: interval, latency: asked.maxLatency, timeout: asked.supervisionTimeout)
    }

    func accept(
        _ handle: ConnectionHandle,
        interval: ClosedRange<UInt16>,
        latency: UInt16 = 0,
        timeout: UInt16 = 300
    ) {
        send(
            LERemoteConnectionParameterRequestReply {
                $0.handle = handle
                $0.intervalMin = interval.lowerBound
                $0.intervalMax = interval.upperBound
                $0.maxLatency = latency
                $0.supervisionTimeout = timeout
                $0.minCELength = 0
                $0.maxCELength = 0
            }
        )
    }

    /// Sends a command and returns the status that answers it.
    @discardableResult
    func send(_ command: some HCICommand) -> HCIStatus {
        send(HCIPacket(command))
    }

    /// Sends any packet and returns the status of the answer, if the last packet is one.
    @discardableResult
    func send(_ packet: HCIPacket) -> HCIStatus {
        let before = packets.count
        line.onReceive?(packet)
        guard before < packets.count, let event = try? EventPacket(reading: packets[before].packet.bytes) else {
            return .unspecifiedError
        }
        if event.code == CommandStatus.eventCode, let status = try? CommandStatus(reading: event.parameters) {
            return status.status
        }
        if let complete = try? CommandComplete(reading: event.parameters), let status = complete.parameters.first {
            return HCIStatus(rawValue: status)
        }
        return .unspecifiedError
    }

    /// Sends a command and returns its return parameters.
    func read<C: HCICommand>(_ command: C) throws -> C.Response {
        let before = packets.count
        line.onReceive?(HCIPacket(command))
        try #require(before < packets.count)
        let event = try EventPacket(reading: packets[before].packet.bytes)
        return try C.Response.reading(try CommandComplete(reading: event.parameters).parameters)
    }

    /// Sends one ACL data packet, as the start of a PDU by default.
    func send(_ payload: [UInt8], on handle: ConnectionHandle, isStart: Bool = true) {
        let packet = ACLPacket(
            handle: handle,
            boundary: isStart ? .startNonFlushable : .continuation,
            payload: PacketBuffer(copying: payload)
        )
        line.onReceive?(HCIPacket(packet))
    }

    /// All events of one kind so far.
    func events<E: HCIEvent>(_ type: E.Type = E.self) -> [E] {
        packets.compactMap { entry in
            guard entry.packet.kind == .event, let event = try? EventPacket(reading: entry.packet.bytes),
                event.code == E.eventCode, event.subevent == E.subevent
            else { return nil }
            return try? E.reading(event.eventParameters)
        }
    }

    /// The handles of the links so far.
    var connectionHandles: [ConnectionHandle] { events(LEEnhancedConnectionComplete.self).map(\.handle) }

    /// All data so far.
    var data: [ACLPacket] {
        packets.compactMap { $0.packet.kind == .acl ? try? ACLPacket(reading: $0.packet.bytes) : nil }
    }

    /// The newest versions of events that have older ones.
    static let newestForms: LEEventMask = [
        .periodicSyncEstablishedV2, .periodicReportV2, .periodicSyncTransferReceivedV2, .enhancedConnectionCompleteV2,
    ]

    /// Unmasks every event, in the older version where there are two, except for `forms`.
    func unmask(_ forms: LEEventMask = []) {
        send(SetEventMask(mask: EventMask(rawValue: .max)))
        send(SetEventMaskPage2(mask: EventMaskPage2(rawValue: .max)))
        send(LESetEventMask(mask: LEEventMask(rawValue: .max).subtracting(Self.newestForms).union(forms)))
    }

    func forget() {
        packets.removeAll()
        line.sent.removeAll()
    }
}

/// A radio channel and the hosts on it.
final class LinkLayerWorld {
    let loop = VirtualEventLoop()
    let random: RandomSource
    let radio: Radio
    var hosts: [TestHost] = []

    init(seed: UInt64 = 1, _ configure: (inout Radio.Configuration) -> Void = { _ in }) {
        random = RandomSource(seed: seed)
        var configuration = Radio.Configuration()
        configure(&configuration)
        radio = Radio(loop: loop, random: random.split(0), configuration: configuration)
    }

    func host(
        at x: Double = 0,
        _ configure: (inout VirtualControllerConfiguration) -> Void = { _ in }
    ) -> TestHost {
        let host = TestHost(self, at: Position(x: x), configure: configure)
        hosts.append(host)
        host.unmask()
        host.forget()
        return host
    }

    /// A world and two hosts, 1 m from each other.
    static func withTwoHosts() -> (LinkLayerWorld, TestHost, TestHost) {
        let world = LinkLayerWorld()
        return (world, world.host(), world.host(at: 1))
    }

    func run(_ duration: Duration) { loop.run(for: duration) }

    /// Runs until `condition` holds, for at most `limit`.
    ///
    /// - Returns: Whether it holds.
    func run(upTo limit: Duration, until condition: () -> Bool) -> Bool {
        loop.run(until: loop.now + limit, stopWhen: condition)
    }

    /// Calls `body` with every frame on the air.
    func sniff(_ body: @escaping (SniffedFrame) -> Void) { radio.onTransmission = body }
}

extension TestHost {
    /// Advertises with an interval of 20 ms.
    func advertise(
        _ kind: LEAdvertisingKind = .connectableScannable,
        interval: UInt16 = 0x20,
        peer: BluetoothAddress = .none
    ) {
        send(LESetAdvertisingParameters.sending(kind, interval: interval, peer: peer))
        send(LESetAdvertisingEnable(isEnabled: true))
    }

    /// Scans continuously, with the legacy commands.
    func scan(_ kind: LEScanKind = .passive, filterDuplicates: Bool = false) {
        send(
            LESetScanParameters {
                $0.kind = kind
                $0.scanInterval = 0x10
                $0.scanWindow = 0x10
                $0.ownAddressKind = .publicDevice
                $0.filterPolicy = .unfiltered
            }
        )
        send(LESetScanEnable(isEnabled: true, filterDuplicates: filterDuplicates ? .enabled : .disabled))
    }

    /// Requests other connection parameters.
    @discardableResult
    func update(
        _ handle: ConnectionHandle,
        interval: ClosedRange<UInt16>,
        latency: UInt16 = 0,
        timeout: UInt16 = 300
    ) -> HCIStatus {
        send(
            LEConnectionUpdate {
                $0.handle = handle
                $0.intervalMin = interval.lowerBound
                $0.intervalMax = interval.upperBound
                $0.maxLatency = latency
                $0.supervisionTimeout = timeout
                $0.minCELength = 0
                $0.maxCELength = 0
            }
        )
    }

    /// Requests PHYs, the same in both directions by default.
    @discardableResult
    func setPHY(
        _ handle: ConnectionHandle,
        _ sending: LEPHYs,
        receiving: LEPHYs? = nil,
        _ option: LECodedPHYOption = .noPreference
    ) -> HCIStatus {
        let receiving = receiving ?? sending
        return send(
            LESetPHY(handle: handle, preference: [], txPHYs: sending, rxPHYs: receiving, codedOption: option)
        )
    }

    /// Starts a connection with LE Create Connection.
    @discardableResult
    func connect(
        to peer: BluetoothAddress,
        interval: UInt16 = 24,
        latency: UInt16 = 0,
        timeout: UInt16 = 100
    ) -> HCIStatus {
        send(LECreateConnection.scanning(for: peer, interval: interval, latency: latency, timeout: timeout))
    }
}

extension LECreateConnection {
    /// A request for a link to `peer`, or to any device of the accept list, by a host that scans continuously.
    static func scanning(
        for peer: BluetoothAddress,
        own: OwnAddressKind = .publicDevice,
        policy: LEInitiatorFilterPolicy = .peerAddress,
        interval: UInt16 = 24,
        latency: UInt16 = 0,
        timeout: UInt16 = 100
    ) -> LECreateConnection {
        LECreateConnection {
            $0.scanInterval = 0x10
            $0.scanWindow = 0x10
            $0.filterPolicy = policy
            $0.peerAddress = peer
            $0.ownAddressKind = own
            $0.intervalMin = interval
            $0.intervalMax = interval
            $0.maxLatency = latency
            $0.supervisionTimeout = timeout
            $0.minCELength = 0
            $0.maxCELength = 0
        }
    }
}

extension LESetAdvertisingParameters {
    /// Parameters with an interval of 20 ms by default.
    static func sending(
        _ kind: LEAdvertisingKind,
        interval: UInt16 = 0x20,
        own: OwnAddressKind = .publicDevice,
        peer: BluetoothAddress = .none,
        channels: LEAdvertisingChannels = .all,
        policy: LEAdvertisingFilterPolicy = .unfiltered
    ) -> LESetAdvertisingParameters {
        LESetAdvertisingParameters {
            $0.intervalMin = interval
            $0.intervalMax = interval
            $0.kind = kind
            $0.ownAddressKind = own
            $0.peerAddress = peer
            $0.channels = channels
            $0.filterPolicy = policy
        }
    }
}

/// A central and a peripheral with a link between them.
struct Pair {
    let world: LinkLayerWorld
    let central: TestHost
    let peripheral: TestHost
    let centralHandle: ConnectionHandle
    let peripheralHandle: ConnectionHandle

    init(
        _ world: LinkLayerWorld = LinkLayerWorld(),
        interval: UInt16 = 24,
        latency: UInt16 = 0,
        timeout: UInt16 = 100,
        central configureCentral: (inout VirtualControllerConfiguration) -> Void = { _ in },
        peripheral configurePeripheral: (inout VirtualControllerConfiguration) -> Void = { _ in }
    ) throws {
        try self.init(
            world,
            central: world.host(configureCentral),
            peripheral: world.host(at: 1, configurePeripheral),
            interval: interval,
            latency: latency,
            timeout: timeout
        )
    }

    /// Connects two existing hosts.
    init(
        _ world: LinkLayerWorld,
        central: TestHost,
        peripheral: TestHost,
        interval: UInt16 = 24,
        latency: UInt16 = 0,
        timeout: UInt16 = 100
    ) throws {
        (self.world, self.central, self.peripheral) = (world, central, peripheral)
        peripheral.advertise()
        central.connect(to: peripheral.address, interval: interval, latency: latency, timeout: timeout)
        world.run(.seconds(1))
        centralHandle = try #require(central.events(LEEnhancedConnectionComplete.self).first).handle
        peripheralHandle = try #require(peripheral.events(LEEnhancedConnectionComplete.self).first).handle
    }

    var centralLink: Link? { central.controller.link(centralHandle) }
    var peripheralLink: Link? { peripheral.controller.link(peripheralHandle) }
}
