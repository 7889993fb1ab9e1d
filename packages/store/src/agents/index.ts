export { endVisits, pruneVisits } from './agent-visits.ts';
export * from './lock.ts';
