/// Who looks at a machine. Tests put any machine in its place.
package protocol FactSource {
    /// What is seen now, without the service and without a word to a controller.
    func facts() -> MachineFacts
}
