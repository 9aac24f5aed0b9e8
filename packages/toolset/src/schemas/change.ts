/** The report of what a fitted schema loses. */

/** A difference between a schema and its fitted form. */
export interface SchemaChange {
  /** The place in the original schema, as a JSON pointer. */
  readonly path: string
  /** The keyword that was changed or removed. */
  readonly keyword: string
  /**
   * The effect on the accepted values. `same`: none, once the arguments are restored. `wider`: the model may send values that
   * the tool does not accept; they are refused when the tool is called. `narrower`: the model cannot send all values that the tool
   * accepts.
   */
  readonly effect: 'same' | 'wider' | 'narrower'
  /** Describes the change. */
  readonly message: string
}
