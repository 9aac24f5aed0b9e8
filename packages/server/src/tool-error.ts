/** A failure that its caller may read. */

/**
 * Thrown by a tool to say, in words fit for the model, what went wrong. It becomes a result with `isError: true`; thrown
 * by a resource, a prompt or a completer, an error of the protocol with these words. Every other error is masked.
 *
 * ```ts
 * throw new ToolError('There is no city called Atlantis.')
 * ```
 */
export class ToolError extends Error {
  override readonly name = 'ToolError'
}
