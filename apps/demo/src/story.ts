/** A story shows one thing the packages do, and fails when they do not. */
import { styleText } from 'node:util'

export interface Story {
  readonly title: string
  /** Tells it line by line; a throw ends the demo with exit code 1. */
  tell(say: (line: string) => void): Promise<void>
}

/** Tells the stories one after the other; resolves to the number that failed. */
export async function tellAll(stories: readonly Story[]): Promise<number> {
  let failed = 0
  for (const { title, tell } of stories) {
    console.log(`\n${paint('bold', title)}`)
    const started = performance.now()
    try {
      await tell((line) => console.log(`  ${line}`))
      console.log(paint('green', `  ok, in ${Math.ceil(performance.now() - started)} ms`))
    } catch (error) {
      failed += 1
      console.log(paint('red', `  failed: ${error instanceof Error ? error.stack : error}`))
    }
  }
  return failed
}

/** Colour in a terminal; `styleText` leaves text alone when it is piped, or when NO_COLOR says so. */
function paint(style: 'bold' | 'green' | 'red', text: string): string {
  return styleText(style, text, { stream: process.stdout })
}
