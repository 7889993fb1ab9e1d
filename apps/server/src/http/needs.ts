/** What several routes need alike. Each route names its needs by these or by its own; only app.ts sees all there is. */
import type { Agents, RunTurn } from '@lodge/engine';
import type { GuestClient } from '@lodge/guest';
import type { GuestAddress, Log } from '@lodge/ports';
import type { AgentUrlSettings } from './context.ts';

/** For replies with an agent's record. */
export interface AgentReplies {
  readonly agents: Agents;
  readonly agentUrl: AgentUrlSettings;
}

/** For what waits until an agent has come somewhere. */
export interface Waiting {
  readonly agents: Agents;
  /** How long at most. */
  readonly lifecycleWaitMs: number;
  /** Aborts when the server begins to close: waits and log streams end then. */
  readonly closing: AbortSignal;
}

/** For what reaches into an agent's guest. */
export interface GuestAccess {
  readonly agents: Agents;
  readonly guestAt: (guest: GuestAddress) => GuestClient;
  readonly lifecycleWaitMs: number;
  /** Aborts when the server has waited long enough for what is under way. */
  readonly cut: AbortSignal;
}

/** For turns with an agent. */
export interface Turns {
  readonly runTurn: RunTurn;
  readonly lifecycleWaitMs: number;
  readonly chatTimeoutMs: number;
  readonly chatSilenceMs?: number;
  readonly cut: AbortSignal;
  readonly log: Log;
}
