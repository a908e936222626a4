import ArgumentParser

/// The options of commands that connect to a device.
struct ConnectingOptions: ParsableArguments {
    @OptionGroup var client: ClientOptions
    @OptionGroup var trust: TrustOptions

    @Option(
        help: ArgumentHelp("The time limit for finding and connecting to the device, in seconds.", valueName: "SECONDS")
    )
    var timeout = 10.0

    @Argument(help: DeviceSelector.help)
    var device: DeviceSelector

    func validate() throws {
        guard timeout > 0, timeout <= 86_400 else {
            throw ValidationError("--timeout must be greater than 0 and at most 86400")
        }
        try client.checkOptions(trust.given)
    }
}
