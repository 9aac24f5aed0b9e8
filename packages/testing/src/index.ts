/** Contract suites: tests that every implementation of an interface of @mcpx/protocol must pass. */

export { type ChannelContractOptions, channelContract } from './channel-contract.ts'
export {
  type ContractCase,
  ContractError,
  type ContractOptions,
  describeContract,
  type TestRunner,
} from './contract.ts'
export { counterStoreContract } from './counter-store-contract.ts'
export { type EventBusContractOptions, eventBusContract } from './event-bus-contract.ts'
export { eventStoreContract } from './event-store-contract.ts'
export { jsonSchemaValidatorContract } from './json-schema-validator-contract.ts'
export { replayStoreContract } from './replay-store-contract.ts'
export { type RequesterContractOptions, requesterContract } from './requester-contract.ts'
export { sessionContract } from './session-contract.ts'
export { recordStoreContract, type StoreContractOptions, sessionStoreContract } from './session-store-contract.ts'
export { storeContract, type WholeStoreContractOptions } from './store-contract.ts'
export { taskStoreContract } from './task-store-contract.ts'
export { catchError, delay, waitForTasks } from './timing.ts'
