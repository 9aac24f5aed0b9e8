/** What a server offers, as types: it links the server's code and its callers without generating any. */

export interface ToolTypes {
  /** What callers pass. */
  input: unknown
  /** What callers get back. */
  output: unknown
}

export interface Catalogue {
  tools: Record<string, ToolTypes>
  /** The arguments of each prompt. */
  prompts: Record<string, Record<string, string | undefined>>
}

/** Something whose offers are known to the compiler. The member exists for types only. */
export interface Catalogued<out Offers extends Catalogue> {
  readonly '~catalogue'?: Offers
}
