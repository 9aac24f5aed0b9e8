/** Views of tools, which hosts display (MCP Apps). Runs on every runtime. */

import type { ToolUiOption, View } from './ui.ts'

export { type AppsOptions, apps, supportsUi } from './extension.ts'
export { type ToolUiOption, type UiOptions, ui, type View, type ViewSource } from './ui.ts'
// biome-ignore format: a list of names reads best as a paragraph
export {
  type Permission, UI_EXTENSION, UI_MIME_TYPE, type ViewCsp, ViewError, type ViewErrorReason, type Visibility,
} from './view.ts'

declare module '@mcpx/server' {
  interface ExtensionToolOptions {
    /**
     * The view that hosts display for calls of the tool, and the parties that may call the tool. Results still need
     * `content`, for the model and for hosts without views. Needs the extension `apps()`. Default: none.
     */
    ui?: View | ToolUiOption | undefined
  }
}
