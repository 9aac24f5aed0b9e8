/** What a prompt is registered with, as types. */

import type {
  AnySchema,
  Awaitable,
  ContentBlock,
  Context,
  GetPromptResult,
  Icon,
  InputRequiredResult,
  MetaObject,
  Role,
} from '@mcpx/protocol'
import type { VisibilityOptions } from '../visibility.ts'
import type { Completer } from './completers.ts'
import type { Given, Taken } from './tool-options.ts'

export interface PromptOptions<Args = AnySchema> extends VisibilityOptions {
  /** The name to show. Default: the prompt's name. */
  title?: string
  description?: string
  /** An object of texts: a schema of any library that shows itself as JSON Schema, or a JSON Schema. Default: none. */
  args?: Args
  /** Proposes values for the arguments. */
  complete?: { readonly [Name in Extract<keyof Taken<Args>, string>]?: Completer }
  icons?: Icon[]
  _meta?: MetaObject
  /** Whether a prompt that has this name already is replaced. Default: false, which refuses the name. */
  replace?: boolean
}

/** A message of a prompt; words stand for a block of text. */
export interface PromptLine {
  readonly role: Role
  readonly content: string | ContentBlock
}

/** What a prompt gives: what the user says, as words or content; messages; or a whole result. */
export type PromptReturn = Awaitable<
  string | ContentBlock | readonly PromptLine[] | GetPromptResult | InputRequiredResult
>

export type GetPrompt<Args> = (args: Given<Args>, ctx: Context) => PromptReturn
