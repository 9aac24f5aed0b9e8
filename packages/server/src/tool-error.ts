/** A tool's failure that its caller may read. */

/**
 * Thrown by a tool to say, in words fit for the model, what went wrong. It becomes a result with `isError: true`;
 * every other error is masked.
 *
 * ```ts
 * throw new ToolError('There is no city called Atlantis.')
 * ```
 */
export class ToolError extends Error {
  override readonly name = 'ToolError'
}
