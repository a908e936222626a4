/// Collects facts about a machine. Tests substitute any machine.
package protocol FactSource {
    /// Returns the current facts. Contacts neither the service nor a controller.
    func facts() -> MachineFacts
}
