import Administration
import ArgumentParser
import BluetoothTypes
import ServiceMessages

struct AppCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "Show and control the apps of the Bluetooth service.",
        discussion: """
            Examples:
              harald app list
              harald app background com.example.heart

            \(ExitStatus.text())
            """,
        subcommands: [
            List.self, Launch.self, Background.self, Foreground.self, Suspend.self, Terminate.self, ForceQuit.self,
            ResetPermission.self, RevokePermission.self,
        ]
    )

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List running, preserved and launchable apps.",
            discussion: """
                Example:
                  harald app list --json

                \(ExitStatus.text())
                """
        )

        @OptionGroup var service: ServiceOptions
        @OptionGroup var showing: ShowingOptions

        func run() throws {
            try showing.show(.apps, of: service, as: AppsStatus.self) { $0.lines }
        }
    }

    struct Launch: AppVerbCommand {
        static let configuration = CommandConfiguration(
            abstract: "Launch an app, as the user does.",
            discussion: """
                Example:
                  harald app launch com.example.heart

                \(ExitStatus.text())
                """
        )
        static let verb = AppVerb.launch
        static func outcome(of app: String) -> String { "launched \(app)" }
        @OptionGroup var options: AppOptions
    }

    struct Background: AppVerbCommand {
        static let configuration = CommandConfiguration(
            abstract: "Move an app to the background.",
            discussion: """
                Example:
                  harald app background com.example.heart

                \(ExitStatus.text())
                """
        )
        static let verb = AppVerb.background
        static func outcome(of app: String) -> String { "\(app) is in the background" }
        @OptionGroup var options: AppOptions
    }

    struct Foreground: AppVerbCommand {
        static let configuration = CommandConfiguration(
            abstract: "Bring an app to the foreground.",
            discussion: """
                Example:
                  harald app foreground com.example.heart

                \(ExitStatus.text())
                """
        )
        static let verb = AppVerb.foreground
        static func outcome(of app: String) -> String { "\(app) is in the foreground" }
        @OptionGroup var options: AppOptions
    }

    struct Suspend: AppVerbCommand {
        static let configuration = CommandConfiguration(
            abstract: "Move an app to the background, and let its background time expire.",
            discussion: """
                Example:
                  harald app suspend com.example.heart

                \(ExitStatus.text())
                """
        )
        static let verb = AppVerb.suspend
        static func outcome(of app: String) -> String { "\(app) is suspended" }
        @OptionGroup var options: AppOptions
    }

    struct Terminate: AppVerbCommand {
        static let configuration = CommandConfiguration(
            abstract: "Terminate an app, as a system short of memory does: its pending requests stay active.",
            discussion: """
                Example:
                  harald app terminate com.example.heart

                \(ExitStatus.text())
                """
        )
        static let verb = AppVerb.terminate
        static func outcome(of app: String) -> String { "terminated \(app)" }
        @OptionGroup var options: AppOptions
    }

    struct ForceQuit: AppVerbCommand {
        static let configuration = CommandConfiguration(
            abstract: "Force-quit an app, as the user does: all its requests end.",
            discussion: """
                Example:
                  harald app force-quit com.example.heart

                \(ExitStatus.text())
                """
        )
        static let verb = AppVerb.forceQuit
        static func outcome(of app: String) -> String { "force-quit \(app)" }
        @OptionGroup var options: AppOptions
    }

    struct ResetPermission: AppVerbCommand {
        static let configuration = CommandConfiguration(
            abstract: "Forget whether an app may use Bluetooth.",
            discussion: """
                Example:
                  harald app reset-permission com.example.heart

                \(ExitStatus.text())
                """
        )
        static let verb = AppVerb.resetPermission
        static func outcome(of app: String) -> String { "\(app) has no decision about Bluetooth any more" }
        @OptionGroup var options: AppOptions
    }

    struct RevokePermission: AppVerbCommand {
        static let configuration = CommandConfiguration(
            abstract: "Deny an app Bluetooth, as the user does in Settings. This ends a managed app.",
            discussion: """
                Example:
                  harald app revoke-permission com.example.heart

                \(ExitStatus.text())
                """
        )
        static let verb = AppVerb.revokePermission
        static func outcome(of app: String) -> String { "\(app) may not use Bluetooth" }
        @OptionGroup var options: AppOptions
    }
}

/// The options of commands that act on one app.
struct AppOptions: ParsableArguments {
    @OptionGroup var service: ServiceOptions
    @OptionGroup var showing: ShowingOptions

    @Option(
        help: ArgumentHelp(
            "The numeric ID of the app's user, if several users have an app with this name.",
            valueName: "UID"
        )
    )
    var user: UInt32?

    @Argument(
        help: ArgumentHelp("The bundle identifier of the app, or the name of its executable.", valueName: "APP")
    )
    var name: String
}

/// A command that performs one action on an app, and prints what it has done and the resulting state.
protocol AppVerbCommand: ParsableCommand {
    static var verb: AppVerb { get }
    var options: AppOptions { get }

    /// Says what the command has done to an app with this name.
    static func outcome(of app: String) -> String
}

extension AppVerbCommand {
    func run() throws {
        let (name, user) = (options.name, options.user)
        let question = ToolQuestion.app(Self.verb, name: name, owner: user)
        try options.showing.show(question, of: options.service, as: AppsStatus.self) { status in
            [Self.outcome(of: name.visible)] + status.lines(of: name, user)
        }
    }
}
