/** Contract suites: each port has one, and every implementation of it runs it. */

export { type ChannelContractOptions, channelContract } from './channel-contract.ts'
export { type BusContractOptions, eventBusContract } from './event-bus-contract.ts'
export { eventStoreContract } from './event-store-contract.ts'
export { jsonSchemaValidatorContract, type ValidatorContractOptions } from './json-schema-contract.ts'
export { type RequesterContractOptions, requesterContract } from './requester-contract.ts'
export { type SessionContractOptions, sessionContract } from './session-contract.ts'
export { type StoreContractOptions, sessionStoreContract } from './session-store-contract.ts'
export { caught, delay, settled } from './timing.ts'
