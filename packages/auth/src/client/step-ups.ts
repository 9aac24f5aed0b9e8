/** Counts how often more rights were asked for in vain, so that nobody is asked without end. */

export interface StepUps {
  mayTry(step: string): boolean
  tried(step: string): void
  /** What was asked for was of use. */
  succeeded(step: string): void
}

/** How many sets of scopes are counted; a server that thinks of ever new ones gets no more. */
const MOST_STEPS = 100

export function createStepUps(most: number): StepUps {
  const counts = new Map<string, number>()
  return {
    mayTry: (step) => (counts.get(step) ?? 0) < most && (counts.has(step) || counts.size < MOST_STEPS),
    tried: (step) => void counts.set(step, (counts.get(step) ?? 0) + 1),
    succeeded: (step) => void counts.delete(step),
  }
}
