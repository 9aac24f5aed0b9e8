/** Tools for the content generation of the Gemini API. */
import { type AdapterOptions, checkRun, definitionsOf, type RunOptions, runCall } from './adapter.ts'
import { checkOptions, checkToolset } from './checks.ts'
import { joinText } from './results.ts'
import type { JsonObject } from './schemas/json.ts'
import type { Toolset } from './toolset.ts'

/** Declarations of functions, for `config.tools` of a request. */
export interface GeminiTool {
  /** The declarations. */
  functionDeclarations: { name: string; description?: string; parametersJsonSchema?: JsonObject }[]
}

/** A function call of a model. */
export interface GeminiCall {
  /** The id of the call. Some models send none. */
  readonly id?: string
  /** The name of the function. */
  readonly name?: string
  /** The arguments. */
  readonly args?: JsonObject
}

/** The result of a call, for the parts of the next user content. */
export interface GeminiResponsePart {
  /** The result: `output`, or `error` of a tool that failed, and media in `parts`. */
  functionResponse: {
    id?: string
    name: string
    response: { output: string } | { error: string }
    parts?: { inlineData: { mimeType: string; data: string } }[]
  }
}

/** Tools for `ai.models.generateContent`. */
export interface GeminiContent {
  /** The current tools for `config.tools`. Read them again for each request, because they may change. */
  readonly tools: GeminiTool[]
  /** Runs the calls of a response concurrently, and returns a part for each call. */
  run(calls: readonly GeminiCall[] | undefined, options?: RunOptions): Promise<GeminiResponsePart[]>
}

const imagesAndDocuments = /^(?:image\/(?:png|jpeg|webp)|application\/pdf)$/

/** Converts a toolset for Gemini. Models before Gemini 3 read text only: pass `media: false`. */
export function geminiContent(toolset: Toolset, options: AdapterOptions = {}): GeminiContent {
  checkToolset('geminiContent', toolset)
  checkOptions('geminiContent', options, ['media'])
  const { media = true } = options
  return {
    get tools() {
      const functionDeclarations = definitionsOf(toolset, 'gemini').map(({ name, description, schema }) => ({
        name,
        ...(description !== undefined && { description }),
        // The API refuses an object without properties.
        ...(Object.keys(schema.properties ?? {}).length > 0 && { parametersJsonSchema: schema }),
      }))
      return functionDeclarations.length === 0 ? [] : [{ functionDeclarations }]
    },
    async run(calls = [], runOptions = {}) {
      checkRun('geminiContent.run', calls, 'response.functionCalls', runOptions)
      return Promise.all(
        calls.map(async ({ id, name = '', args }) => {
          const accepted = media ? imagesAndDocuments : undefined
          const { result, parts } = await runCall(
            toolset,
            { name, args },
            { ...runOptions, dialect: 'gemini', accepted },
          )
          const text = joinText(parts)
          const files = parts.flatMap((part) =>
            part.type === 'media' ? [{ inlineData: { mimeType: part.mimeType, data: part.data } }] : [],
          )
          return {
            functionResponse: {
              ...(id !== undefined && { id }),
              name,
              response: result.isError === true ? { error: text } : { output: text },
              ...(files.length > 0 && { parts: files }),
            },
          }
        }),
      )
    },
  }
}
