import type { LogLevel } from '../agents/agent-logs.ts';
import type { LlmApi } from '../llm/llm.ts';
import type { CarriedData, RuntimeFacts } from '../vm/vm-driver.ts';
import type { ReportProgress } from '../vm/images.ts';
import type { ChatEndpoint } from './endpoint.ts';
import type { FailureFacts, ToldError } from './gateway.ts';
import type { GuestAddress } from './guest-address.ts';

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
  /** Further agents in the same guest, by name. */
  readonly members: readonly MemberSettings[];
}

export interface MemberSettings {
  readonly name: string;
  /** Null: the agent's own. */
  readonly model: string | null;
  /** How the provider of its model speaks, and tokens that model takes in, where known. */
  readonly api: LlmApi;
  readonly contextWindow: number | null;
  readonly instructions: string | null;
}

/** Who in an agent is spoken to, and in which of its conversations. */
export interface ChatTurn {
  /** Null: the agent itself. */
  readonly member: string | null;
  /** What names the conversation, any text; the same for chat completions and responses. Null: the turn stands alone. */
  readonly conversation: string | null;
  /** Whether pictures come with it. */
  readonly pictures: boolean;
}

/** A web server of the runtime inside its guest. `headers` open it and are the host's alone. */
export interface WebEndpoint {
  /** `http://<address>:<port>`. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What of a runtime is served under an agent's own address. */
export type WebPage = 'gateway' | 'dashboard';

/** A template that agents are made from until the runtime's own is made from it. */
export interface EarlyTemplate {
  /** Changes whenever `prepare` would leave a different guest behind. */
  readonly variant: string;
  /** As `AgentRuntime.prepareTemplate`, and no warmer than the first agent of a new host needs. */
  prepare(guest: GuestAddress, progress: ReportProgress, signal: AbortSignal): Promise<RuntimeFacts>;
  /** Brings that guest, which goes on, to where `AgentRuntime.prepareTemplate` ends. `facts`: what `prepare` gave. */
  goOn(guest: GuestAddress, facts: RuntimeFacts, progress: ReportProgress, signal: AbortSignal): Promise<RuntimeFacts>;
}

/** What runs inside a guest, and how it is spoken to. Knows nothing of how the guest was started. */
export interface AgentRuntime {
  /** `openclaw` or `hermes`: also the name of its image. */
  readonly name: string;
  readonly version: string;
  /** Changes whenever `prepareTemplate` would leave a different guest behind. */
  readonly templateVariant: string;
  /** Port of the guest that its gateway listens on. */
  readonly gatewayPort: number;
  /** What of a guest is the agent's own: it goes along when the agent is moved to a newer template. */
  readonly data: CarriedData;
  /** Starts the stub LLM that a template is warmed up against, on `host`, any free port. Answers at once; knows no key. */
  startWarmupLlm(host: string): Promise<{ readonly port: number; close(): Promise<void> }>;
  /** From a guest whose daemon answers to a runtime that is configured, warm and suspended, page cache dropped. Returns within seconds of the last warm chat. */
  prepareTemplate(guest: GuestAddress, progress: ReportProgress, signal: AbortSignal): Promise<RuntimeFacts>;
  /** Absent: its template takes too short a time to be made in two steps. */
  readonly early?: EarlyTemplate;
  /** In a fresh clone, after a `suspend`, or after one that came to nothing: opens the gateway again. `facts` are the template's, or what `suspend` gave. */
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
  /** A piece of bounded size of the runtime's own log from `offset` on (bytes since the guest first booted), whole lines. */
  readLog(guest: GuestAddress, offset: number, signal: AbortSignal): Promise<RuntimeLogPiece>;
  /** After a cold boot of an agent's own disk: waits until the gateway serves. */
  awaitBoot(guest: GuestAddress, facts: RuntimeFacts, settings: AgentSettings, signal: AbortSignal): Promise<void>;
  /**
   * What of the settings lies in the guest, as JSON: settings for which it is the same want the same guest. Null where that
   * is the guest a template makes, so that a clone needs nothing done.
   */
  inGuest(settings: AgentSettings): object | null;
  /**
   * Brings into effect what of the settings lies in the guest, with its gateway open: what `inGuest` names is so when it
   * resolves, and on the disk, and what an earlier `apply` has put there and is not wanted any more is gone. Rewrites
   * nothing that fits; may be cut short at any point and repeated. Bounded by `signal`.
   */
  apply(guest: GuestAddress, facts: RuntimeFacts, settings: AgentSettings, signal: AbortSignal): Promise<void>;
  /** `settings` as they are now: a change of the agent's model is in effect with its next request. `turn.member` is one of them. */
  chatEndpoint(guest: GuestAddress, facts: RuntimeFacts, settings: AgentSettings, turn: ChatTurn): ChatEndpoint;
  /** What an error means that its gateway tells of a turn. The words are a guest's: those that speak of the request alone may pass. */
  readonly turnFailure: (told: ToldError) => FailureFacts;
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

export interface RuntimeLogPiece {
  /** A message has a character more than `maxLogLine` at most. */
  readonly lines: readonly RuntimeLogLine[];
  readonly nextOffset: number;
  /** Lines of the piece beyond those that are looked at. */
  readonly leftOut?: number;
}

export interface RuntimeLogLine {
  readonly at: Date | null;
  readonly level: LogLevel;
  readonly message: string;
}
