export { closeCall, endLeftCalls, openCall, openUnlimitedCall } from './llm-calls.ts';
export { lockedLimits, markTold, ownLimits, spentByAccount, spentByAgent, standingsOf } from './spend.ts';
export type { Caller, OwnLimits } from './spend.ts';
