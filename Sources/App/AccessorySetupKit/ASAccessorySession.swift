import CoreBluetooth
import ServiceMessages
import Synchronization

/// A session with the accessories of an app: it shows the picker, and reports what becomes of the accessories.
///
/// The app's `Info.plist` lists Bluetooth under `NSAccessorySetupKitSupports`, and the services, companies and names of
/// its accessories (behaviour 16.2). Central managers of such an app need no permission, and reach only its accessories
/// (behaviour 1.23). All methods may be called from any thread.
open class ASAccessorySession: NSObject, @unchecked Sendable {
    // Safe: all mutable state is in a mutex.
    private typealias Completion = @Sendable ((any Error)?) -> Void

    /// The app's handler, which is called on the queue of the app only.
    private struct Handler: @unchecked Sendable {
        let handle: (ASAccessoryEvent) -> Void
    }

    private struct Core {
        var link: SetupLink?
        var handler: Handler?
        var isActive = false
        var isInvalid = false
        var accessories: [ASAccessory] = []
        var pending: [UInt32: Completion] = [:]
        var last: UInt32 = 0
        var settings: ASPickerDisplaySettings?
    }

    private let core = Mutex(Core())

    /// Creates a session that is not active yet.
    public override init() {}

    deinit { core.withLock { $0.link }?.close() }

    /// The accessories of the app, since the session is active.
    open var accessories: [ASAccessory] { core.withLock { $0.accessories } }

    /// Settings for the next picker; nil for the usual ones.
    open var pickerDisplaySettings: ASPickerDisplaySettings? {
        get { core.withLock { $0.settings } }
        set { core.withLock { $0.settings = newValue } }
    }

    /// Activates the session, once.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called.
    ///   - eventHandler: Receives the events, first ``ASAccessoryEventType/activated``.
    open func activate(on queue: dispatch_queue_t, eventHandler: @escaping (ASAccessoryEvent) -> Void) {
        let handler = Handler(handle: eventHandler)
        core.withLock { core in
            guard core.link == nil, !core.isInvalid else { return }
            core.handler = handler
            core.link = SetupLink(queue: queue) { [weak self] in self?.receive($0) }
        }
    }

    /// Ends the session for good, and releases its handler after a last event, ``ASAccessoryEventType/invalidated``.
    open func invalidate() {
        guard let link = core.withLock({ $0.link }) else { return core.withLock { $0.isInvalid = true } }
        link.callBack { [self] in
            end(ASAccessoryEvent(.invalidated))
            link.close()
        }
    }

    /// Calls the handler for the last time, and everything that still waits.
    private func end(_ event: ASAccessoryEvent) {
        let ended = core.withLock { core in
            defer { (core.link, core.handler, core.pending, core.isInvalid) = (nil, nil, [:], true) }
            return core
        }
        ended.handler?.handle(event)
        for (_, completion) in ended.pending.sorted(by: { $0.key < $1.key }) { completion(ASError(.invalidated)) }
    }

    // MARK: Events

    private func receive(_ event: Event) {
        switch event {
        case .setup(.activated(let accessories)):
            core.withLock { ($0.isActive, $0.accessories) = (true, accessories.map { ASAccessory($0) }) }
            handle(ASAccessoryEvent(.activated))
        case .setup(.happened(let kind, let accessory, let error)): receive(kind, accessory, error)
        case .setup(.answered(let number, let error)):
            core.withLock { $0.pending.removeValue(forKey: number) }?(error.map { ASError($0) })
        // There is no service.
        case .stateChanged(.unsupported) where !core.withLock { $0.isActive }:
            end(ASAccessoryEvent(.invalidated, nil, ASError(.activationFailed)))
        case .stateChanged, .central, .peripheral, .channel, .activity: break
        }
    }

    private func receive(_ kind: SetupEvent.Kind, _ accessory: SetUpAccessory?, _ error: SetupError?) {
        let changed = accessory.map { ASAccessory($0) }
        let event = ASAccessoryEvent(
            ASAccessoryEventType(rawValue: Int(kind.rawValue)) ?? .unknown,
            changed,
            error.map { ASError($0) }
        )
        if kind == .invalidated { return end(event) }
        if let changed { core.withLock { $0.accessories.note(changed, isRemoved: kind == .accessoryRemoved) } }
        handle(event)
    }

    private func handle(_ event: ASAccessoryEvent) { core.withLock { $0.handler }?.handle(event) }

    // MARK: Requests

    private func perform(_ request: SetupRequest, _ completion: @escaping Completion) {
        let (link, number) = core.withLock { core in
            core.last &+= 1
            if core.link != nil { core.pending[core.last] = completion }
            return (core.link, core.last)
        }
        guard let link else {
            let isInvalid = core.withLock { $0.isInvalid }
            return completion(ASError(isInvalid ? .invalidated : .activationFailed))
        }
        link.send(request, number: number)
    }

    private func perform(_ request: SetupRequest) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            perform(request) { $0.map { continuation.resume(throwing: $0) } ?? continuation.resume() }
        }
    }

    /// The request that shows a picker, or the error for items that are about Wi-Fi.
    private func picker(_ items: [ASPickerDisplayItem]) throws -> SetupRequest {
        let timeout = pickerDisplaySettings?.discoveryTimeout ?? .usual
        return .showPicker(
            try items.map { item in
                guard let item = item.item else { throw ASError.noWiFi }
                return item
            },
            timeout: timeout.seconds
        )
    }
}

extension [ASAccessory] {
    fileprivate mutating func note(_ accessory: ASAccessory, isRemoved: Bool) {
        let index = firstIndex(of: accessory)
        if let index { self[index] = accessory } else if !isRemoved { append(accessory) }
        if isRemoved, let index { remove(at: index) }
    }
}

extension ASError {
    fileprivate static var noWiFi: ASError { ASError(SetupError(.invalidRequest, reason: "this system has no Wi-Fi")) }
    fileprivate static var noClassic: ASError {
        ASError(SetupError(.invalidRequest, reason: "this system has no Bluetooth Classic"))
    }
}

// MARK: - The picker

extension ASAccessorySession {
    /// Shows the picker of the app's extension for device discovery, which there is none of here.
    ///
    /// - Parameter completionHandler: Called with ``ASError/Code/extensionNotFound``.
    public func showPicker(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        completionHandler(ASError(.extensionNotFound))
    }

    /// Shows the picker of the app's extension for device discovery, which there is none of here.
    ///
    /// - Throws: ``ASError/Code/extensionNotFound``.
    public func showPicker() async throws { throw ASError(.extensionNotFound) }

    /// Shows the picker: the user chooses one of the accessories in reach that match an item (behaviours 16.3 to 16.5).
    ///
    /// - Parameters:
    ///   - displayItems: The kinds of accessories. Those of ``ASMigrationDisplayItem`` are adopted without a choice.
    ///   - completionHandler: Called once, after the picker is gone.
    public func showPicker(
        for displayItems: [ASPickerDisplayItem],
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        do {
            perform(try picker(displayItems), completionHandler)
        } catch {
            completionHandler(error)
        }
    }

    /// Shows the picker, and returns after it is gone.
    ///
    /// - Parameter displayItems: The kinds of accessories.
    /// - Throws: ``ASError``.
    public func showPicker(for displayItems: [ASPickerDisplayItem]) async throws {
        try await perform(try picker(displayItems))
    }
}

// MARK: - Accessories

extension ASAccessorySession {
    /// Finishes the authorization of an accessory that awaits it (behaviour 16.6).
    ///
    /// - Parameters:
    ///   - accessory: The accessory.
    ///   - settings: Its properties. This system has neither Wi-Fi nor Bluetooth Classic, and refuses theirs.
    ///   - completionHandler: Called once, when it is done.
    public func finishAuthorization(
        for accessory: ASAccessory,
        settings: ASAccessorySettings,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        if let refusal = settings.refusal { return completionHandler(refusal) }
        perform(.finishAuthorization(accessory.accessory.identifier), completionHandler)
    }

    /// Finishes the authorization of an accessory that awaits it (behaviour 16.6).
    ///
    /// - Throws: ``ASError``.
    public func finishAuthorization(for accessory: ASAccessory, settings: ASAccessorySettings) async throws {
        if let refusal = settings.refusal { throw refusal }
        try await perform(.finishAuthorization(accessory.accessory.identifier))
    }

    /// Ends the authorization of an accessory that awaits it. The accessory is removed (behaviour 16.6).
    public func failAuthorization(
        for accessory: ASAccessory,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        perform(.failAuthorization(accessory.accessory.identifier), completionHandler)
    }

    /// Ends the authorization of an accessory that awaits it. The accessory is removed (behaviour 16.6).
    ///
    /// - Throws: ``ASError``.
    public func failAuthorization(for accessory: ASAccessory) async throws {
        try await perform(.failAuthorization(accessory.accessory.identifier))
    }

    /// Removes an accessory from the app, with its bond if no other app has it (behaviour 16.7).
    public func removeAccessory(
        _ accessory: ASAccessory,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        perform(.remove(accessory.accessory.identifier), completionHandler)
    }

    /// Removes an accessory from the app, with its bond if no other app has it (behaviour 16.7).
    ///
    /// - Throws: ``ASError``.
    public func removeAccessory(_ accessory: ASAccessory) async throws {
        try await perform(.remove(accessory.accessory.identifier))
    }

    /// Shows the user a field for another name (behaviour 16.8).
    ///
    /// - Parameters:
    ///   - accessory: The accessory.
    ///   - renameOptions: What changes with the name. This system has no Wi-Fi, and refuses an SSID.
    ///   - completionHandler: Called once, after the view is gone.
    public func renameAccessory(
        _ accessory: ASAccessory,
        options renameOptions: ASAccessory.RenameOptions = [],
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        if renameOptions.contains(.ssid) { return completionHandler(ASError.noWiFi) }
        perform(.rename(accessory.accessory.identifier), completionHandler)
    }

    /// Shows the user a field for another name (behaviour 16.8).
    ///
    /// - Throws: ``ASError``.
    public func renameAccessory(
        _ accessory: ASAccessory,
        options renameOptions: ASAccessory.RenameOptions = []
    ) async throws {
        if renameOptions.contains(.ssid) { throw ASError.noWiFi }
        try await perform(.rename(accessory.accessory.identifier))
    }

    /// Asks the user whether the app may use more of an accessory (behaviour 16.10).
    ///
    /// - Parameters:
    ///   - accessory: The accessory.
    ///   - descriptor: Its new traits.
    ///   - completionHandler: Called once, after the view is gone.
    public func updateAuthorization(
        for accessory: ASAccessory,
        descriptor: ASDiscoveryDescriptor,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let traits = descriptor.current
        if traits.isOfWiFi { return completionHandler(ASError.noWiFi) }
        perform(.updateAuthorization(accessory.accessory.identifier, traits.bluetooth), completionHandler)
    }

    /// Asks the user whether the app may use more of an accessory (behaviour 16.10).
    ///
    /// - Throws: ``ASError``.
    public func updateAuthorization(for accessory: ASAccessory, descriptor: ASDiscoveryDescriptor) async throws {
        let traits = descriptor.current
        if traits.isOfWiFi { throw ASError.noWiFi }
        try await perform(.updateAuthorization(accessory.accessory.identifier, traits.bluetooth))
    }
}

extension ASAccessorySettings {
    /// Why the settings cannot apply; nil if they can.
    fileprivate var refusal: ASError? {
        ssid != nil ? .noWiFi : bluetoothTransportBridgingIdentifier != nil ? .noClassic : nil
    }
}
