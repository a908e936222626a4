/// Why a Live Activity could not be started (behaviour 9.22).
public enum ActivityAuthorizationError: Hashable, LocalizedError {
    /// The attributes and the content have more than 4 KB.
    case attributesTooLarge
    /// The user has switched Live Activities off. It does not occur here.
    case denied
    /// The device has too many activities. It does not occur here.
    case globalMaximumExceeded
    /// The identifier of the activity is not valid. It does not occur here.
    case malformedActivityIdentifier
    /// The process of the app has ended.
    case missingProcessIdentifier
    /// The system could not save the activity. It does not occur here.
    case persistenceFailure
    /// The activity belongs to another process. It does not occur here.
    case reconnectNotPermitted
    /// The app has five activities already.
    case targetMaximumExceeded
    /// The request asks for push notifications, which this system does not have.
    case unentitled
    /// The system is older than iOS 16.1.
    case unsupported
    /// The `Info.plist` of the app lacks `NSSupportsLiveActivities`.
    case unsupportedTarget
    /// The app is not in the foreground.
    case visibility

    /// What is wrong.
    public var failureReason: String? {
        switch self {
        case .attributesTooLarge: "the attributes and the content exceed 4 KB"
        case .denied: "the user has switched Live Activities off"
        case .globalMaximumExceeded: "the device has too many Live Activities"
        case .malformedActivityIdentifier: "the identifier of the activity is not valid"
        case .missingProcessIdentifier: "the process of the app has ended"
        case .persistenceFailure: "the activity could not be saved"
        case .reconnectNotPermitted: "the activity belongs to another process"
        case .targetMaximumExceeded: "the app has too many Live Activities"
        case .unentitled: "the app has no push notifications"
        case .unsupported: "the device does not support Live Activities"
        case .unsupportedTarget: "the Info.plist of the app lacks NSSupportsLiveActivities"
        case .visibility: "the app is not in the foreground"
        }
    }

    /// What to do about it; nil if nothing helps.
    public var recoverySuggestion: String? {
        switch self {
        case .attributesTooLarge: "shorten the content"
        case .targetMaximumExceeded: "end another Live Activity of the app"
        case .unentitled: "request the activity without a push type"
        case .unsupported: "use iOS 16.1 or later"
        case .unsupportedTarget: "set NSSupportsLiveActivities in the Info.plist of the app"
        case .visibility: "request the activity while the app is in the foreground"
        default: nil
        }
    }
}
