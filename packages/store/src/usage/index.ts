export { forgetContents, pruneCalls } from '../llm/call-prune.ts';
export { recordReading, setComputePrices } from './compute.ts';
export { sumUsage } from './usage-sums.ts';
