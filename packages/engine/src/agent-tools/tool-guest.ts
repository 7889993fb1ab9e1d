import type { GuardedCaller } from '@lodge/ports';

/** The agent that calls, proved by its machine's address. */
export type ToolGuest = GuardedCaller;
