import type { LogLevel } from './agent-logs.ts';
import type { LlmApi } from './llm.ts';
import type { RuntimeFacts } from './vm-driver.ts';
import type { ReportProgress } from './images.ts';

/** What of an agent its runtime must know. No secret is in it: keys are added by the broker on the way out. */
export interface AgentSettings {
  readonly agentId: string;
  /** How the agent's provider speaks. */
  readonly api: LlmApi;
  /** Tokens the model can take in, where known. */
  readonly contextWindow: number | null;
  /** The agent's model as on its record. */
  readonly model: string;
  readonly instructions: string | null;
  readonly dashboard: boolean;
}

export interface GuestAddress {
  readonly address: string;
}

/** Where and how to speak to an agent's OpenAI-compatible endpoint. `headers` hold the gateway's token: host only. */
export interface ChatEndpoint {
  /** Full URL of `POST chat/completions`. */
  readonly chatCompletionsUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What the runtime wants in `model`. */
  readonly model: string;
}

/** A web server of the runtime inside its guest. `headers` open it and are the host's alone. */
export interface WebEndpoint {
  /** `http://<address>:<port>`. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What of a runtime is served under an agent's own address. */
export type WebPage = 'gateway' | 'dashboard';

/** What runs inside a guest, and how it is spoken to. Knows nothing of how the guest was started. */
export interface AgentRuntime {
  /** `openclaw` or `hermes`: also the name of its image. */
  readonly name: string;
  readonly version: string;
  /** Changes whenever `prepareTemplate` would leave a different guest behind. */
  readonly templateVariant: string;
  /** Starts the stand-in LLM that a template is warmed up against, on `host`, any free port. Answers at once; knows no key. */
  startWarmupLlm(host: string): Promise<{ readonly port: number; close(): Promise<void> }>;
  /** From a guest whose daemon answers to a runtime that is configured, warm and suspended, page cache dropped. Returns within seconds of the last warm chat. */
  prepareTemplate(guest: GuestAddress, progress: ReportProgress, signal: AbortSignal): Promise<RuntimeFacts>;
  /** In a fresh clone, after a `suspend`, or after one that came to nothing: opens the gateway again and brings the agent's settings into effect, rewriting nothing when the guest already fits. `facts` are the template's, or what `suspend` gave. */
  resume(guest: GuestAddress, facts: RuntimeFacts, settings: AgentSettings, signal: AbortSignal): Promise<void>;
  /**
   * Before a stop: takes no new work, lets the turn in hand end, writes the guest's disk out and drops its page cache.
   * Bounded; rejects with `RuntimeBusy` when work does not end in time, with the gateway open again. Resolves with the facts
   * that `resume` and `chatEndpoint` need from then on.
   */
  suspend(guest: GuestAddress, facts: RuntimeFacts, signal: AbortSignal): Promise<RuntimeFacts>;
  /** Writes the guest's file systems out, so that what an ended turn has changed survives the VM's death. */
  flush(guest: GuestAddress, signal: AbortSignal): Promise<void>;
  /** Before a machine is ended for a restart: lets the runtime end its work and writes the disk out. Bounded, never rejects for a guest that does not answer. */
  shutdown(guest: GuestAddress, facts: RuntimeFacts, signal: AbortSignal): Promise<void>;
  /** One look from outside. */
  health(guest: GuestAddress, facts: RuntimeFacts, signal: AbortSignal): Promise<RuntimeHealth>;
  /** The runtime's own log from `offset` on (bytes since the guest first booted), whole lines. */
  readLog(
    guest: GuestAddress,
    offset: number,
    signal: AbortSignal,
  ): Promise<{ readonly lines: readonly RuntimeLogLine[]; readonly nextOffset: number }>;
  /** After a cold boot of an agent's own disk: waits until the gateway serves with the agent's settings. */
  awaitBoot(guest: GuestAddress, facts: RuntimeFacts, settings: AgentSettings, signal: AbortSignal): Promise<void>;
  /** `settings` as they are now: a change of the agent's model is in effect with its next request. */
  chatEndpoint(guest: GuestAddress, facts: RuntimeFacts, settings: AgentSettings): ChatEndpoint;
  /** Null where this runtime, or this agent, has no such page. */
  web(guest: GuestAddress, facts: RuntimeFacts, settings: AgentSettings, page: WebPage): WebEndpoint | null;
}

/** The runtime is at work and did not end it in time. */
export class RuntimeBusy extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RuntimeBusy';
  }
}

export interface RuntimeHealth {
  /** Null when its gateway answers; else what is wrong, for the operator. */
  readonly gateway: string | null;
  /** Processes the guest's kernel has killed for want of memory since it booted; null when the guest does not say. */
  readonly oomKills: number | null;
  readonly diskFreeMib: number | null;
}

export interface RuntimeLogLine {
  readonly at: Date | null;
  readonly level: LogLevel;
  readonly message: string;
}
