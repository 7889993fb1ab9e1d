/** Runs of schedules and messages of hooks. */
export type WorkKind = 'run' | 'message';
