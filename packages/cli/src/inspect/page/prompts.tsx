/** The tab of the prompts: a list, the arguments of the selected prompt, and its messages. */

import type { Prompt } from '@mcpx/client'
import type { GetPromptResult } from '@mcpx/protocol'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { CompletedInput } from './completed-input.tsx'
import { ChatMessage } from './content.tsx'
import { Button, CopyButton, Empty, formatDuration } from './elements.tsx'
import { useKept, usePageState, useRoute, useRun } from './hooks.ts'
import { ItemHead, ItemList } from './item-list.tsx'
import { RunPanel } from './run-panel.tsx'
import { call, loadList } from './store.ts'

/** The prompts of the server. */
export function Prompts(): VNode {
  const { lists } = usePageState()
  const { item } = useRoute()
  const { listPrompts } = lists
  const prompt = listPrompts.items.find(({ name }) => name === item)
  return (
    <div class={`split ${item === undefined ? '' : 'has-item'}`}>
      <ItemList
        tab="prompts"
        title="Prompts"
        list={listPrompts}
        selected={item}
        onReload={() => void loadList('listPrompts')}
        emptyText="The server lists no prompts"
        entryOf={({ name, title, description }) => ({ id: name, title: name, detail: description ?? title })}
      />
      <div class="detail">
        {prompt !== undefined ? (
          <PromptPanel key={prompt.name} prompt={prompt} />
        ) : (
          <Empty title="Choose a prompt">Its arguments and its messages are shown here.</Empty>
        )}
      </div>
    </div>
  )
}

function PromptPanel({ prompt }: { readonly prompt: Prompt }): VNode {
  const { name, title, description, arguments: parameters = [] } = prompt
  const { connection } = usePageState()
  const [values, setValues] = useKept<Readonly<Record<string, string>>>(`prompt ${name}`, () => ({}))
  const [isChecked, setIsChecked] = useState(false)
  const run = useRun<GetPromptResult>(`prompt ${name}`)
  const missing = parameters.filter((each) => each.required === true && (values[each.name] ?? '') === '')
  const get = () => {
    setIsChecked(true)
    if (missing.length > 0) return
    const args = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
    run.start((settings) => call('getPrompt', { name, args }, settings))
  }
  return (
    <article class="item">
      <ItemHead tab="prompts" name={name} title={title} description={description} />
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          get()
        }}
      >
        {parameters.length === 0 && <p class="note">This prompt has no arguments.</p>}
        <div class="fields">
          {parameters.map((each) => (
            <CompletedInput
              key={each.name}
              reference={{ type: 'ref/prompt', name }}
              name={each.name}
              description={each.description}
              isRequired={each.required === true}
              problem={isChecked && missing.includes(each) ? 'is required' : undefined}
              values={values}
              onChange={(value) => setValues({ ...values, [each.name]: value })}
            />
          ))}
        </div>
        <div class="actions">
          <Button look="primary" submit disabled={connection.status !== 'connected' || run.state.status === 'running'}>
            Get prompt
          </Button>
        </div>
      </form>
      <RunPanel run={run}>
        {(result, duration) => (
          <>
            <div class="section-head">
              <h3>Messages of the prompt</h3>
              <span class="time">{formatDuration(duration)}</span>
              <CopyButton text={() => JSON.stringify(result, null, 2)}>Copy</CopyButton>
            </div>
            {result.messages.map(({ role, content }, index) => (
              <ChatMessage key={index} role={role} blocks={[content]} />
            ))}
            {result.messages.length === 0 && <p class="note">The prompt has no messages.</p>}
          </>
        )}
      </RunPanel>
    </article>
  )
}
