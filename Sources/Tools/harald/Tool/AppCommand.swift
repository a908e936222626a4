import Administration
import ArgumentParser
import BluetoothTypes
import Foundation
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
            List.self, ActionCommand<0>.self, ActionCommand<1>.self, ActionCommand<2>.self, ActionCommand<3>.self,
            ActionCommand<4>.self, ActionCommand<5>.self, ActionCommand<6>.self, ActionCommand<7>.self,
            ActionCommand<8>.self, ActionCommand<9>.self, ForgetAccessory.self, RenameAccessory.self,
        ]
    )

    struct List: ShowingCommand {
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

        func execute() throws(ToolError) {
            try showing.show(.apps, of: service, as: AppsStatus.self) { $0.lines }
        }
    }

    struct ForgetAccessory: ShowingCommand {
        static let configuration = CommandConfiguration(
            commandName: "forget-accessory",
            abstract: "Remove an accessory from an app that has set it up with AccessorySetupKit.",
            discussion: """
                This is what the user does in Settings. The bond goes with the last app that has the accessory.

                Example:
                  harald app forget-accessory com.example.heart 00010203-0405-4607-8809-0A0B0C0D0E0F

                \(ExitStatus.text())
                """
        )

        @OptionGroup var service: ServiceOptions
        @OptionGroup var showing: ShowingOptions
        @OptionGroup var chosen: ChosenAccessory

        func execute() throws(ToolError) {
            try showing.show(chosen.question(.remove), of: service, as: AppsStatus.self) { status in
                ["\(chosen.name.visible) has lost the accessory"] + status.lines(of: chosen.name, chosen.user)
            }
        }
    }

    struct RenameAccessory: ShowingCommand {
        static let configuration = CommandConfiguration(
            commandName: "rename-accessory",
            abstract: "Rename an accessory that an app has set up with AccessorySetupKit.",
            discussion: """
                This is what the user does in Settings.

                Example:
                  harald app rename-accessory com.example.heart 00010203-0405-4607-8809-0A0B0C0D0E0F "Left belt"

                \(ExitStatus.text())
                """
        )

        @OptionGroup var service: ServiceOptions
        @OptionGroup var showing: ShowingOptions
        @OptionGroup var chosen: ChosenAccessory

        @Argument(help: ArgumentHelp("The new name.", valueName: "NAME"))
        var new: String

        func execute() throws(ToolError) {
            try showing.show(chosen.question(.rename(new)), of: service, as: AppsStatus.self) { status in
                ["renamed the accessory of \(chosen.name.visible)"] + status.lines(of: chosen.name, chosen.user)
            }
        }
    }

    /// An accessory of an app.
    struct ChosenAccessory: ParsableArguments {
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

        @Argument(
            help: ArgumentHelp("The identifier of the accessory, from harald app list.", valueName: "IDENTIFIER"),
            transform: { text in
                guard let identifier = UUID(uuidString: text) else { throw ValidationError("no identifier: \(text)") }
                return identifier
            }
        )
        var accessory: UUID

        func question(_ verb: AccessoryVerb) -> ToolQuestion {
            .accessory(accessory, verb, name: name, owner: user)
        }
    }

    /// Performs one action of ``actions`` on an app, and prints what it has done and the resulting state. The parser
    /// needs a type for each command, so the number of the action is a part of the type.
    struct ActionCommand<let number: Int>: ShowingCommand {
        static var configuration: CommandConfiguration {
            let action = AppCommand.actions[number]
            return CommandConfiguration(
                commandName: action.name,
                abstract: action.abstract,
                discussion: """
                    Example:
                      harald app \(action.name) com.example.heart

                    \(ExitStatus.text())
                    """
            )
        }

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

        func execute() throws(ToolError) {
            let action = AppCommand.actions[Self.number]
            let question = ToolQuestion.app(action.verb, name: name, owner: user)
            try showing.show(question, of: service, as: AppsStatus.self) { status in
                [action.outcome.replacing("APP", with: name.visible)] + status.lines(of: name, user)
            }
        }
    }

    /// The commands other than `list`, in the order of the help. The outcome is printed with the app's name for `APP`.
    private static let actions: [(verb: AppVerb, name: String, outcome: String, abstract: String)] = [
        (.launch, "launch", "launched APP", "Launch an app, as the user does."),
        (.background, "background", "APP is in the background", "Move an app to the background."),
        (.foreground, "foreground", "APP is in the foreground", "Bring an app to the foreground."),
        (
            .suspend,
            "suspend",
            "APP is suspended",
            "Move an app to the background, and let its background time expire."
        ),
        (
            .terminate,
            "terminate",
            "terminated APP",
            "Terminate an app, as a system short of memory does: its pending requests stay active."
        ),
        (.forceQuit, "force-quit", "force-quit APP", "Force-quit an app, as the user does: all its requests end."),
        (
            .resetPermission,
            "reset-permission",
            "APP has no decision about Bluetooth any more",
            "Forget whether an app may use Bluetooth."
        ),
        (
            .revokePermission,
            "revoke-permission",
            "APP may not use Bluetooth",
            "Deny an app Bluetooth, as the user does in Settings. This ends a managed app."
        ),
        (
            .startLiveActivity,
            "start-activity",
            "APP has a Live Activity",
            "Start a Live Activity of an app: in the background it keeps the privileges of the foreground (iOS 26)."
        ),
        (.endLiveActivity, "end-activity", "APP has no Live Activity", "End the Live Activity of an app."),
    ]
}
