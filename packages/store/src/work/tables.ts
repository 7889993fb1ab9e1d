/** Runs of schedules, messages of hooks, and confirmations that were decided. */
export type WorkKind = 'run' | 'message' | 'confirmation';
