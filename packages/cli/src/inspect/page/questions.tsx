/** Shows input requests of the server: forms, URLs, and messages that a model would write. */

import type { ContentBlock, JsonObject, SamplingMessage } from '@mcpx/protocol'
import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { plainText } from '../../output/plain-text.ts'
import type { Answer, Question } from '../api.ts'
import { ChatMessage } from './content.tsx'
import { Button, LongText } from './elements.tsx'
import { Fields, focusProblem } from './form.tsx'
import { fieldOf, initialValue, type Problem, problemsOf, ROOT } from './form-model.ts'
import { usePageState } from './hooks.ts'
import { JsonTree } from './json-tree.tsx'
import { call } from './store.ts'
import { ProblemList } from './tools.tsx'

type QuestionOf<Kind extends Question['kind']> = Extract<Question, { kind: Kind }>

/** The oldest question, as a dialog. */
export function Questions(): VNode | null {
  const { questions } = usePageState()
  const [question, ...others] = questions
  if (question === undefined) return null
  return <QuestionDialog key={question.id} question={question} waiting={others.length} />
}

function QuestionDialog({ question, waiting }: { readonly question: Question; readonly waiting: number }): VNode {
  const dialog = useRef<HTMLDialogElement>(null)
  const reply = (answer: Answer) => void call('answer', { question: question.id, answer }).catch(() => {})
  useEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby="question-title"
      onCancel={(event) => {
        event.preventDefault()
        reply({ action: 'cancel' })
      }}
    >
      <p class="question-server">
        {plainText(question.server)} {waiting > 0 && <span class="badge">{waiting} more</span>}
      </p>
      {question.kind === 'form' && <FormQuestion question={question} reply={reply} />}
      {question.kind === 'url' && <UrlQuestion question={question} reply={reply} />}
      {question.kind === 'sampling' && <SamplingQuestion question={question} reply={reply} />}
    </dialog>
  )
}

interface QuestionProps<Kind extends Question['kind']> {
  readonly question: QuestionOf<Kind>
  readonly reply: (answer: Answer) => void
}

function Choices(props: { readonly reply: (answer: Answer) => void; readonly children: ComponentChildren }): VNode {
  const { reply, children } = props
  return (
    <div class="actions">
      {children}
      <Button onClick={() => reply({ action: 'decline' })}>Decline</Button>
      <Button look="quiet" onClick={() => reply({ action: 'cancel' })}>
        Cancel
      </Button>
    </div>
  )
}

function FormQuestion({ question, reply }: QuestionProps<'form'>): VNode {
  const { message, schema } = question
  const [field] = useState(() => fieldOf(schema))
  const [value, setValue] = useState<unknown>(() => initialValue(field) ?? {})
  const [problems, setProblems] = useState<readonly Problem[]>([])
  const send = () => {
    const found = problemsOf(schema, value)
    setProblems(found)
    if (found.length === 0) reply({ action: 'accept', content: value as JsonObject })
  }
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        send()
        focusProblem(event.currentTarget)
      }}
    >
      <h2 id="question-title">The server asks</h2>
      <p class="question-text">{plainText(message)}</p>
      {field.kind === 'object' && (
        <Fields
          fields={field.fields}
          value={value}
          onChange={(changed) => {
            setValue(changed)
            if (problems.length > 0) setProblems(problemsOf(schema, changed))
          }}
          path={ROOT}
          problems={problems}
        />
      )}
      <ProblemList problems={problems} />
      <Choices reply={reply}>
        <Button look="primary" submit>
          Send
        </Button>
      </Choices>
    </form>
  )
}

function UrlQuestion({ question, reply }: QuestionProps<'url'>): VNode {
  const { message, url } = question
  const { host, protocol } = new URL(url)
  const isWeb = protocol === 'https:' || protocol === 'http:'
  return (
    <>
      <h2 id="question-title">The server asks you to visit a page</h2>
      <p class="question-text">{plainText(message)}</p>
      <p>
        Host: <b>{plainText(host)}</b>
      </p>
      <p>
        <code class="url">{plainText(url)}</code>
      </p>
      <Choices reply={reply}>
        {isWeb && (
          <a
            class="button primary"
            href={url}
            target="_blank"
            rel="noopener noreferrer"
            onClick={() => reply({ action: 'accept' })}
          >
            Open the page
          </a>
        )}
      </Choices>
    </>
  )
}

function ChatMessages({ messages }: { readonly messages: readonly unknown[] }): VNode {
  return (
    <>
      {/* Blocks of other types are shown as JSON. */}
      {(messages as readonly SamplingMessage[]).map(({ role, content }, index) => (
        <ChatMessage key={index} role={role} blocks={[content].flat() as ContentBlock[]} />
      ))}
    </>
  )
}

function SamplingQuestion({ question, reply }: QuestionProps<'sampling'>): VNode {
  const { params } = question
  const { systemPrompt, messages } = params
  const [text, setText] = useState('')
  const [model, setModel] = useState('a person')
  const [isJson, setIsJson] = useState(false)
  const [problem, setProblem] = useState<string>()
  const send = () => {
    try {
      const content: unknown = isJson ? JSON.parse(text) : { type: 'text', text }
      const isToolUse = JSON.stringify(content).includes('"tool_use"')
      const stopReason = isToolUse ? 'toolUse' : 'endTurn'
      reply({ action: 'accept', content: { role: 'assistant', content, model, stopReason } as JsonObject })
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <h2 id="question-title">The server asks a model</h2>
      <p class="note">You take the role of the model: read the messages, and write the next one.</p>
      {typeof systemPrompt === 'string' && (
        <>
          <h3>System prompt</h3>
          <LongText text={systemPrompt} limit={5_000} />
        </>
      )}
      <ChatMessages messages={Array.isArray(messages) ? messages : []} />
      <details class="definition">
        <summary>All parameters</summary>
        <JsonTree value={params} />
      </details>
      <div class="field">
        <label for="sampling-text">
          <span class="field-name">Message of the assistant</span>
        </label>
        <textarea
          id="sampling-text"
          class={isJson ? 'code' : ''}
          rows={4}
          value={text}
          placeholder={isJson ? '{ "type": "text", "text": "…" }' : ''}
          aria-invalid={problem !== undefined}
          aria-describedby="sampling-problem"
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <p class="field-problem" id="sampling-problem">
          {problem}
        </p>
        <label class="choice">
          <input type="checkbox" checked={isJson} onChange={(event) => setIsJson(event.currentTarget.checked)} />
          Write the content as JSON, for example to use a tool
        </label>
      </div>
      <div class="field">
        <label for="sampling-model">
          <span class="field-name">Name of the model</span>
        </label>
        <input id="sampling-model" type="text" value={model} onInput={(event) => setModel(event.currentTarget.value)} />
      </div>
      <Choices reply={reply}>
        <Button look="primary" submit>
          Send
        </Button>
      </Choices>
    </form>
  )
}
