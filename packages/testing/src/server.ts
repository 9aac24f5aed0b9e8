/// <reference lib="esnext.disposable" preserve="true" />
/** Tests of servers and clients: a client in every era, scripted users, matchers, transcripts, faults and a fake clock. */

export {
  type AnswersOptions,
  type AskedQuestion,
  answers,
  type FormContent,
  type ScriptedAnswer,
  type ScriptedModel,
  type ScriptedUser,
} from './server/answers.ts'
export { type FakeClock, type FakeClockOptions, fakeClock } from './server/clock.ts'
export { compareTranscript } from './server/compare.ts'
export { type CausedFault, type FaultOptions, type FaultyConnector, faults } from './server/faults.ts'
export { type Assertions, type MatcherResult, matchers, type Verification, verify } from './server/matchers.ts'
export { type Failure, observeConnector, type Step } from './server/observe.ts'
export type { RecordOptions, Transcript } from './server/recorded-steps.ts'
export {
  createTest,
  type RegisterTest,
  type Report,
  type ServerTest,
  type ServerTestFunction,
  type ServerTestOptions,
  type TestedServer,
  testServer,
} from './server/test-server.ts'
export { recordTranscript, replayTranscript } from './server/transcript.ts'
export { type WatchedCall, type WatchedConnector, watchTools } from './server/watch.ts'
