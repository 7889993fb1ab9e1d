/** Calls of agents that wait for a yes. Whoever makes such calls asks the guard first, and tells it how the call ended. */
import type { CallOutcome, Confirmations, GuardedAct, Json } from '@lodge/domain';

/** The agent that calls, proved by its machine's address. */
export interface GuardedCaller {
  readonly agentId: string;
  readonly accountId: string;
  /** The agent's rules; null: none. */
  readonly confirmations: Confirmations | null;
}

/** A request to an `http` connection, or to a host under its own name. */
export interface RequestCall {
  readonly kind: 'http' | 'host';
  readonly connection: string;
  /** The connection's URL, or that of the host, when the call was shown. */
  readonly url: string;
  readonly method: string;
  readonly path: string;
  /** With its `?`; empty without one. */
  readonly query: string;
  /** Headers that the agent set, without the connection's. Secrets of hosts are placeholders here. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** In base64; null without a body. */
  readonly body: string | null;
}

/** A call exactly as it is made. */
export type StoredCall =
  | RequestCall
  | {
      readonly kind: 'mcp';
      readonly connection: string;
      readonly url: string;
      /** The server's name for the tool. */
      readonly tool: string;
      readonly arguments: Json;
    }
  | { readonly kind: 'tool'; readonly name: string; readonly arguments: Json }
  /** A use of the runtime's own tools, which Lodge never runs: after a yes the agent may run it once. */
  | {
      readonly kind: 'command';
      readonly tool: string;
      /** The text that rules match. */
      readonly text: string;
      /** The beginning of the tool's arguments, and the digest of all. */
      readonly detail: string;
      readonly digest: string;
    };

export interface CallEnd {
  readonly outcome: CallOutcome;
  /** The answer, or why there is none: text of the service or tool, of bounded length. */
  readonly text: string;
}

export type GuardAnswer =
  /** The call is to be made now, once. `ended` never rejects. */
  | { readonly verdict: 'allowed'; ended(end: CallEnd): Promise<void> }
  /** The call is not to be made now. `message` is for the agent. */
  | { readonly verdict: 'denied' | 'undecided'; readonly message: string };

export interface CallGuard {
  /** Waits a bounded time for a decision about a call whose policy is `ask`. Rejects with a `Refusal`. */
  ask(caller: GuardedCaller, act: GuardedAct, call: StoredCall, signal: AbortSignal): Promise<GuardAnswer>;
}

/** Makes a stored call that was allowed. Never rejects. */
export type MakeCall = (
  agent: Pick<GuardedCaller, 'agentId' | 'accountId'>,
  call: StoredCall,
  signal: AbortSignal,
) => Promise<CallEnd>;

/** Contexts of a confirmation's sealed values. */
export const confirmationCallContext = (id: string): string => `confirmation/${id}/call`;
export const confirmationShownContext = (id: string): string => `confirmation/${id}/shown`;
export const confirmationWordsContext = (id: string): string => `confirmation/${id}/words`;
export const confirmationResultContext = (id: string): string => `confirmation/${id}/result`;
