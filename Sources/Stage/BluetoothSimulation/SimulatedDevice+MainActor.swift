import BluetoothService
import Dispatch

/// Launches of apps whose classes are marked `@MainActor`, on the main actor, as systems launch apps.
extension SimulatedDevice {
    /// Launches an app on the main actor.
    ///
    /// Otherwise as ``launch(_:declaring:_:)``. In a test that is not on the main actor, the call is awaited.
    ///
    /// - Parameters:
    ///   - name: The name of the app, which identifies it.
    ///   - declaration: The contents of its `Info.plist`.
    ///   - body: Creates the app's objects.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`.
    @MainActor
    @discardableResult
    public func launchOnMainActor<App>(
        _ name: String,
        declaring declaration: AppDeclaration = AppDeclaration(),
        _ body: @MainActor (SimulatedApp) throws -> App
    ) rethrows -> App {
        try launch(name, declaring: declaration) { try body($0) }
    }

    /// Installs an app whose code runs on the main actor at each launch.
    ///
    /// Otherwise as ``install(_:declaring:_:)``. The code runs while time passes in the world, once the main queue is
    /// free: in a synchronous test on the main thread at once, and in an asynchronous one while it waits for the world.
    ///
    /// - Parameters:
    ///   - name: The name of the app, which identifies it.
    ///   - declaration: The contents of its `Info.plist`.
    ///   - main: The code of the app. Its result is retained as long as the process exists.
    /// - Precondition: The device has fewer than 256 installed apps.
    public func installOnMainActor<App: Sendable>(
        _ name: String,
        declaring declaration: AppDeclaration = AppDeclaration(),
        _ main: @escaping @MainActor @Sendable (SimulatedApp, AppLaunch) -> App
    ) {
        install(onMainQueue: name, declaration) { app, launch in MainActor.assumeIsolated { main(app, launch) } }
    }
}
