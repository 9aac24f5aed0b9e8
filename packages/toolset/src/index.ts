/** The tools of Model Context Protocol servers for models: the AI SDK, OpenAI, Anthropic, Gemini and LangChain. */

export type { AdapterOptions, RunOptions, StrictOptions } from './adapter.ts'
export { type AiSdkContent, type AiSdkOptions, type AiSdkOutput, type AiSdkTool, aiSdkTools } from './ai-sdk.ts'
export {
  type AnthropicBlock,
  type AnthropicContent,
  type AnthropicMessages,
  type AnthropicTool,
  type AnthropicToolResult,
  anthropicMessages,
} from './anthropic.ts'
export {
  type GeminiCall,
  type GeminiContent,
  type GeminiResponsePart,
  type GeminiTool,
  geminiContent,
} from './gemini.ts'
export {
  type LangChainConfig,
  type LangChainContent,
  type LangChainOptions,
  type LangChainToolFields,
  langchainTools,
} from './langchain.ts'
export {
  type OpenAiChat,
  type OpenAiChatCall,
  type OpenAiChatMessage,
  type OpenAiChatTool,
  type OpenAiResponses,
  type OpenAiResponsesContent,
  type OpenAiResponsesItem,
  type OpenAiResponsesOutput,
  type OpenAiResponsesTool,
  openaiChat,
  openaiResponses,
} from './openai.ts'
export { type EmbeddedResource, type ResultContent, type ToolResult, toText } from './results.ts'
export type { Dialect } from './schemas/dialects.ts'
export type { SchemaChange } from './schemas/fit-schema.ts'
export { type FittedSchema, fitSchema } from './schemas/fit-schema.ts'
export type { JsonObject } from './schemas/json.ts'
export { type SearchOptions, searchTools } from './search.ts'
export {
  createToolset,
  type DialectCallOptions,
  listSchemaChanges,
  type ToolCallOptions,
  type ToolInfo,
  type ToolProgress,
  type ToolSchemaChange,
  type ToolSource,
  type Toolset,
  type ToolsetOptions,
} from './toolset.ts'
