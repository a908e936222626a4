import DequeModule
import ServiceMessages

/// A call of an app that concerns one of its managers.
enum AppCall {
    case open(ManagerID, ManagerRole, ManagerOptions, any EventSink)
    case close(ManagerID)
    case request(ManagerID, Request, CallSite? = nil)
}

/// Queues the calls of one app in order. A call that changes the app's record waits until the record is durable, and so
/// do the calls after it (behaviour 10.15). Other apps are not delayed. Calls that wait together are recorded together.
///
/// Used on the loop only.
final class RecordGate {
    /// The number of calls that may wait (AB-G05). Another process is not read from meanwhile, so fewer wait.
    static let maximumWaiting = 4_096

    /// Called when calls begin to wait, and when they stop waiting.
    var onWait: ((Bool) -> Void)?
    private(set) var isWaiting = false

    private unowned let app: App
    private var calls = Deque<AppCall>()
    /// The number of leading calls that the record being saved covers, or nil if none is being saved.
    private var recording: Int?
    private var isPerforming = false

    init(of app: App) {
        self.app = app
    }

    /// Performs a call, at once or in its turn.
    func submit(_ call: AppCall) {
        guard calls.count < Self.maximumWaiting else { return app.refuse(call) }
        guard calls.isEmpty, recording == nil, !isPerforming, !hasToRecord(call) else {
            calls.append(call)
            return advance()
        }
        // As almost always, nothing waits.
        isPerforming = true
        app.perform(call)
        isPerforming = false
        if !calls.isEmpty { advance() }
    }

    private func hasToRecord(_ call: AppCall) -> Bool {
        call.request.map { app.changesRecord($0.id, $0.request) } ?? false
    }

    /// Performs all calls at once, for a process that is gone and receives no results.
    func open() {
        endRecording()
        perform(calls.count)
        reportWaiting()
    }

    func clear() {
        endRecording()
        calls.removeAll()
        reportWaiting()
    }

    private func endRecording() {
        if recording.take() != nil { app.hasRecorded() }
    }

    private func advance() {
        guard !isPerforming else { return }
        isPerforming = true
        while recording == nil, let call = calls.first {
            if hasToRecord(call) {
                record()
            } else {
                calls.removeFirst()
                app.perform(call)
            }
        }
        isPerforming = false
        reportWaiting()
    }

    /// Saves the record for the requests up to the first call that opens or closes a manager.
    private func record() {
        let requests = calls.prefix { $0.request != nil }.compactMap(\.request)
        recording = requests.count
        app.record(requests) { [weak self] in self?.recorded() }
    }

    private func recorded() {
        guard let count = recording.take() else { return }
        app.hasRecorded()
        perform(count)
        advance()
    }

    private func perform(_ count: Int) {
        let wasPerforming = isPerforming
        isPerforming = true
        let batch = Array(calls.prefix(count))
        calls.removeFirst(batch.count)
        for call in batch { app.perform(call) }
        isPerforming = wasPerforming
    }

    private func reportWaiting() {
        guard isWaiting != (recording != nil) else { return }
        isWaiting.toggle()
        onWait?(isWaiting)
    }
}

extension AppCall {
    fileprivate var request: (id: ManagerID, request: Request)? {
        if case .request(let id, let request, _) = self { (id, request) } else { nil }
    }
}
