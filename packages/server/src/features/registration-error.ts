/** What cannot be registered says why. */

/** Something that was registered in a way that could not work: the message names it, the place, and the remedy. */
export class RegistrationError extends Error {
  override readonly name = 'RegistrationError'
}
