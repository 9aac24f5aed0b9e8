/** The tab of the tools: a list, the form of the selected tool, and its result. */

import { uiOf } from '@mcpx/apps/client'
import type { CallToolResult, Tool } from '@mcpx/client'
import type { JsonObject } from '@mcpx/protocol'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { AppView } from './app-view.tsx'
import { ContentBlocks } from './content.tsx'
import { Badge, Button, CopyButton, Empty, formatDuration, Segments } from './elements.tsx'
import { Fields, focusProblem } from './form.tsx'
import { fieldOf, initialValue, type Problem, problemsOf, ROOT } from './form-model.ts'
import { type RunState, useKept, usePageState, useRoute, useRun } from './hooks.ts'
import { ItemHead, ItemList } from './item-list.tsx'
import { JsonTree } from './json-tree.tsx'
import { RunPanel } from './run-panel.tsx'
import { toCommand, toTypeScript } from './snippets.ts'
import { call, loadList } from './store.ts'

/** The tools of the server. */
export function Tools(): VNode {
  const { lists } = usePageState()
  const { item } = useRoute()
  const { listTools } = lists
  const tool = listTools.items.find(({ name }) => name === item)
  return (
    <div class={`split ${item === undefined ? '' : 'has-item'}`}>
      <ItemList
        tab="tools"
        title="Tools"
        list={listTools}
        selected={item}
        onReload={() => void loadList('listTools')}
        emptyText="The server lists no tools"
        entryOf={(each) => ({
          id: each.name,
          title: each.name,
          detail: each.description ?? each.title,
          badge: uiOf(each).resourceUri === undefined ? undefined : 'view',
        })}
      />
      <div class="detail">
        {tool !== undefined ? (
          <ToolPanel key={tool.name} tool={tool} />
        ) : item !== undefined && listTools.status === 'ready' ? (
          <Empty title="There is no such tool">The list of the server may have changed.</Empty>
        ) : (
          <Empty title="Choose a tool">Its form and its result are shown here.</Empty>
        )}
      </div>
    </div>
  )
}

interface Sent {
  readonly args: JsonObject
  readonly result: CallToolResult
}

function ToolPanel({ tool }: { readonly tool: Tool }): VNode {
  const { source, connection } = usePageState()
  const { name, inputSchema, title, description, annotations = {} } = tool
  const field = fieldOf(inputSchema)
  const [value, setValue] = useKept<unknown>(`arguments ${name}`, () => initialValue(field) ?? {})
  const [isJson, setIsJson] = useKept(`json ${name}`, () => field.kind !== 'object')
  const [problems, setProblems] = useState<readonly Problem[]>([])
  const run = useRun<Sent>(`tool ${name}`)
  const [sentArgs, setSentArgs] = useKept<{ args: JsonObject; count: number } | undefined>(
    `sent ${name}`,
    () => undefined,
  )
  const hasView = uiOf(tool).resourceUri !== undefined
  const args = (typeof value === 'object' && value !== null ? value : {}) as JsonObject

  const change = (changed: unknown) => {
    setValue(changed)
    // A problem disappears when it is corrected. New problems are shown at the next attempt to send.
    if (problems.length > 0) setProblems(problemsOf(inputSchema, changed))
  }
  const send = (force: boolean) => {
    const found = problemsOf(inputSchema, value)
    setProblems(found)
    if (found.length > 0 && !force) return
    setSentArgs({ args, count: (sentArgs?.count ?? 0) + 1 })
    run.start(async (settings) => ({ args, result: await call('callTool', { name, args }, settings) }))
  }
  const isRunning = run.state.status === 'running'
  return (
    <article class="item">
      <ItemHead tab="tools" name={name} title={title ?? annotations.title} description={description}>
        {annotations.readOnlyHint === true && <Badge tone="ok">read only</Badge>}
        {annotations.readOnlyHint !== true && annotations.destructiveHint === true && (
          <Badge tone="danger">destructive</Badge>
        )}
        {annotations.idempotentHint === true && <Badge>idempotent</Badge>}
        {annotations.openWorldHint === true && <Badge>open world</Badge>}
        {hasView && <Badge>has a view</Badge>}
      </ItemHead>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          send(false)
          focusProblem(event.currentTarget)
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
          // Enter in a text input would send the form a second time.
          event.preventDefault()
          event.currentTarget.requestSubmit()
        }}
      >
        <div class="section-head">
          <h3>Arguments</h3>
          {field.kind === 'object' && field.fields.length > 0 && (
            <Segments
              label="Write the arguments as"
              options={[
                ['form', 'Form'],
                ['json', 'JSON'],
              ]}
              value={isJson ? 'json' : 'form'}
              onChange={(look) => setIsJson(look === 'json')}
            />
          )}
        </div>
        {isJson ? (
          <JsonArguments value={value} onChange={change} />
        ) : field.kind === 'object' && field.fields.length > 0 ? (
          <Fields fields={field.fields} value={value} onChange={change} path={ROOT} problems={problems} />
        ) : (
          <p class="note">This tool has no arguments.</p>
        )}
        <ProblemList problems={problems} onForce={() => send(true)} />
        <div class="actions">
          <Button look="primary" submit disabled={isRunning || connection.status !== 'connected'}>
            Call {name.length > 30 ? 'the tool' : name}
          </Button>
          <CopyButton text={() => toTypeScript(source, name, args)}>Copy as TypeScript</CopyButton>
          <CopyButton text={() => toCommand(source, name, args)}>Copy as mcpx call</CopyButton>
        </div>
      </form>
      {hasView && sentArgs !== undefined && (
        <AppView
          key={sentArgs.count}
          tool={tool}
          args={sentArgs.args}
          result={
            run.state.status === 'done' && run.state.result.args === sentArgs.args ? run.state.result.result : undefined
          }
          failure={failureOf(run.state)}
        />
      )}
      <RunPanel run={run}>{({ result }, duration) => <ToolResult result={result} duration={duration} />}</RunPanel>
      <Definition tool={tool} />
    </article>
  )
}

/** Returns the reason why a call has no result. */
function failureOf(state: RunState<unknown>): string | undefined {
  if (state.status === 'cancelled') return 'The user cancelled the call'
  return state.status === 'failed' ? state.error.message : undefined
}

function ToolResult({ result, duration }: { readonly result: CallToolResult; readonly duration: number }): VNode {
  const [isRaw, setIsRaw] = useState(false)
  const { content, structuredContent, isError } = result
  return (
    <>
      <div class="section-head">
        <h3>Result</h3>
        {isError === true ? <Badge tone="danger">the tool failed</Badge> : <Badge tone="ok">success</Badge>}
        <span class="time">{formatDuration(duration)}</span>
        <Segments
          label="Show the result as"
          options={[
            ['content', 'Content'],
            ['json', 'JSON'],
          ]}
          value={isRaw ? 'json' : 'content'}
          onChange={(look) => setIsRaw(look === 'json')}
        />
        <CopyButton text={() => JSON.stringify(result, null, 2)}>Copy</CopyButton>
      </div>
      <div class={isError === true ? 'failed-result' : ''}>
        {isRaw ? <JsonTree value={result} /> : <ContentBlocks blocks={content} structured={structuredContent} />}
      </div>
    </>
  )
}

/** A list of all problems, with a button that sends the arguments in spite of them. */
export function ProblemList({
  problems,
  onForce,
}: {
  readonly problems: readonly Problem[]
  readonly onForce?: () => void
}): VNode | null {
  if (problems.length === 0) return null
  return (
    <div class="problems" role="alert">
      <p>
        {problems.length === 1 ? 'One value does not fit' : `${problems.length} values do not fit`} the schema, so
        nothing was sent:
      </p>
      <ul>
        {problems.slice(0, 20).map(({ path, message }) => (
          <li key={path}>
            <code>{path.replace(/^arguments\.?/, '') || 'arguments'}</code> {message}
          </li>
        ))}
      </ul>
      {onForce && (
        <Button look="quiet" onClick={onForce}>
          Send anyway
        </Button>
      )}
    </div>
  )
}

function JsonArguments({
  value,
  onChange,
}: {
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}): VNode {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2))
  const [problem, setProblem] = useState<string>()
  const change = (changed: string) => {
    setText(changed)
    try {
      onChange(changed.trim() === '' ? {} : JSON.parse(changed))
      setProblem(undefined)
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  return (
    <div class="field">
      <textarea
        class="code"
        aria-label="Arguments as JSON"
        aria-invalid={problem !== undefined}
        rows={Math.min(20, Math.max(4, text.split('\n').length))}
        spellcheck={false}
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
      />
      {problem && (
        <p class="field-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}

function Definition({ tool }: { readonly tool: Tool }): VNode {
  return (
    <details class="definition">
      <summary>Definition</summary>
      <JsonTree value={tool} />
    </details>
  )
}
