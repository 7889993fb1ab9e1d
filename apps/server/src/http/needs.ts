/** Needs that several routes share. Each route names its needs by these or by its own; only app.ts sees all. */
import type { Agents, Fingerprints, RunTurn } from '@lodge/engine';
import type { GuestClient } from '@lodge/guest';
import type { GuestAddress, Log } from '@lodge/ports';
import type { AgentUrlSettings } from './context.ts';

/** For replies that show which secrets are set. */
export interface ShowsSecrets {
  readonly fingerprints: Fingerprints;
}

/** For replies with an agent's record. */
export interface AgentReplies extends ShowsSecrets {
  readonly agents: Agents;
  readonly agentUrl: AgentUrlSettings;
}

/** For routes that wait until an agent has a status. */
export interface Waiting {
  readonly agents: Agents;
  /** Longest wait. */
  readonly lifecycleWaitMs: number;
  /** Aborts when the server begins to close: waits and log streams end then. */
  readonly closing: AbortSignal;
}

/** For routes that reach into an agent's guest. */
export interface GuestAccess {
  readonly agents: Agents;
  readonly guestAt: (guest: GuestAddress) => GuestClient;
  readonly lifecycleWaitMs: number;
  /** Aborts when the server has waited long enough for running requests. */
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
