import { NamedError } from '@lodge/domain';
import type { HostAccess, Variables } from '@lodge/domain';
import type { LogLevel } from '../agents/agent-logs.ts';
import type { LlmApi } from '../llm/llm.ts';
import type { RuntimeFacts } from '../vm/machine.ts';
import type { CarriedData } from '../vm/saved-machines.ts';
import type { ReportProgress } from '../vm/images.ts';
import type { ChatEndpoint, FailureFacts, ReadToolStep, ReportedError } from './gateway.ts';
import type { GuestAddress } from './guest-address.ts';
import type { GuestSkills } from './guest-skills.ts';

/** The facts about an agent that its runtime needs. They contain no secret: the broker adds keys on the way out. */
export interface AgentSettings {
  readonly agentId: string;
  /** The wire format of the agent's provider. */
  readonly api: LlmApi;
  /** Tokens that the model takes in; null when unknown. */
  readonly contextWindow: number | null;
  /** The agent's model as on its record. */
  readonly model: string;
  readonly instructions: string | null;
  readonly dashboard: boolean;
  /** Whether the agent has a browser in its machine. */
  readonly browser: boolean;
  /** Variables of the agent's commands. None of them is a secret. */
  readonly env: Variables;
  /** Whether its runtime asks the host before commands and changes of files. */
  readonly asksBeforeCommands: boolean;
  /** Names that lead to the host in the guest, and the certificate of their authority; null: none. */
  readonly hosts: Pick<HostAccess, 'hosts' | 'authority'> | null;
  /** Further agents in the same guest, by name. */
  readonly members: readonly MemberSettings[];
}

export interface MemberSettings {
  readonly name: string;
  /** The member's model; null for the agent's own. */
  readonly model: string | null;
  /** The wire format of its model's provider, and the tokens that this model takes in, when known. */
  readonly api: LlmApi;
  readonly contextWindow: number | null;
  readonly instructions: string | null;
}

/** The addressee of a turn within an agent, and its conversation. */
export interface ChatTurn {
  /** The member's name; null for the agent itself. */
  readonly member: string | null;
  /** Any text that names the conversation, the same for chat completions and responses. With null the turn stands alone. */
  readonly conversation: string | null;
  /** Whether pictures come with the turn. */
  readonly pictures: boolean;
}

/** A web server of the runtime inside its guest. `headers` open it and are known only to the host. */
export interface WebEndpoint {
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** The pages of a runtime that are served under an agent's own address. */
export type WebPage = 'gateway' | 'dashboard';

/** A template from which agents are made until the full template, which is made from it, is there. */
export interface EarlyTemplate {
  /** Changes whenever `prepare` would leave a different guest behind. */
  readonly variant: string;
  /** As `AgentRuntime.prepareTemplate`, but no warmer than the first agent of a new host needs. */
  prepare(guest: GuestAddress, progress: ReportProgress, signal: AbortSignal): Promise<RuntimeFacts>;
  /** Continues with that guest up to the end state of `AgentRuntime.prepareTemplate`. `facts` is the result of `prepare`. */
  goOn(guest: GuestAddress, facts: RuntimeFacts, progress: ReportProgress, signal: AbortSignal): Promise<RuntimeFacts>;
}

/** The package of a runtime in its registry. */
export interface RuntimeSource {
  readonly registry: 'npm' | 'PyPI';
  /** The runtime's own package, whose text its recipe replaces. */
  readonly package: string;
  /** Extras of a Python package. */
  readonly extras?: readonly string[];
}

/** The software inside a guest, and the way to speak to it. It does not know how the guest was started. */
export interface AgentRuntime {
  /** The software's name, which is also that of its image. */
  readonly name: string;
  readonly version: string;
  /** Where its versions are released. */
  readonly source: RuntimeSource;
  /** Changes whenever `prepareTemplate` would leave a different guest behind. */
  readonly templateVariant: string;
  /** The guest's TCP port on which its gateway listens. */
  readonly gatewayPort: number;
  /** The folders of a guest that belong to the agent. They move with the agent to a newer template. */
  readonly data: CarriedData;
  /** Starts the stub LLM for the warm-up of a template, on any free port of `host`. It answers at once and knows no key. */
  startWarmupLlm(host: string): Promise<{ readonly port: number; close(): Promise<void> }>;
  /**
   * Brings a guest whose daemon answers to a configured, warm and suspended runtime, with the page cache dropped. Returns
   * within seconds of the last warm chat.
   */
  prepareTemplate(guest: GuestAddress, progress: ReportProgress, signal: AbortSignal): Promise<RuntimeFacts>;
  /** Absent when its template takes too little time to be made in two steps. */
  readonly early?: EarlyTemplate;
  /**
   * Opens the gateway again: in a fresh clone, after a `quiesce`, or after one that failed. `facts` are the
   * template's, or the result of `quiesce`.
   */
  resume(guest: GuestAddress, facts: RuntimeFacts, settings: AgentSettings, signal: AbortSignal): Promise<void>;
  /**
   * Ends what a machine does for another agent, which this one was made from, and removes what is that one's alone: its browser
   * with the profile, which holds logins. It is called before the gateway opens. Repeating it is a success.
   */
  forget(guest: GuestAddress, signal: AbortSignal): Promise<void>;
  /**
   * Prepares a stop: takes no new work, lets the turn in progress end, writes the guest's disk out and drops its page cache.
   * Bounded. Rejects with `RuntimeBusy` when work does not end in time, with the gateway open again. Resolves with the facts
   * that `resume` and `chatEndpoint` need from then on.
   */
  quiesce(guest: GuestAddress, facts: RuntimeFacts, signal: AbortSignal): Promise<RuntimeFacts>;
  /** Writes the guest's file systems out, so the changes of an ended turn survive the VM's death. */
  flush(guest: GuestAddress, signal: AbortSignal): Promise<void>;
  /**
   * Prepares the end of a machine for a restart: lets the runtime end its work and writes the disk out. Bounded. Never
   * rejects because a guest does not answer.
   */
  shutdown(guest: GuestAddress, facts: RuntimeFacts, signal: AbortSignal): Promise<void>;
  /** Checks the runtime once from outside. */
  health(guest: GuestAddress, facts: RuntimeFacts, signal: AbortSignal): Promise<RuntimeHealth>;
  /**
   * Returns a piece of bounded size of the runtime's own log, in whole lines, from `offset` (bytes since the guest first
   * booted).
   */
  readLog(guest: GuestAddress, offset: number, signal: AbortSignal): Promise<RuntimeLogPiece>;
  /** Waits until the gateway serves, after a cold boot of an agent's own disk. */
  awaitBoot(guest: GuestAddress, facts: RuntimeFacts, settings: AgentSettings, signal: AbortSignal): Promise<void>;
  /**
   * Returns the part of the settings that lies in the guest, as JSON. Equal results want the same guest. Null is the guest
   * that a template makes, so a clone needs no changes.
   */
  inGuest(settings: AgentSettings): object | null;
  /**
   * Applies the part of the settings that lies in the guest, with its gateway open. When it resolves, everything that
   * `inGuest` names is in effect and on the disk, and unwanted leftovers of an earlier `apply` are gone. It rewrites nothing
   * that fits, and may be interrupted at any point and repeated. Bounded by `signal`.
   */
  apply(guest: GuestAddress, facts: RuntimeFacts, settings: AgentSettings, signal: AbortSignal): Promise<void>;
  /** The skills that its owner gave the agent. */
  readonly skills: GuestSkills;
  /**
   * Returns the endpoint for a turn. `settings` are the present ones, so a change of the agent's model takes effect with its
   * next request. `turn.member` is one of them.
   */
  chatEndpoint(guest: GuestAddress, facts: RuntimeFacts, settings: AgentSettings, turn: ChatTurn): ChatEndpoint;
  /**
   * Translates an error that the gateway reports about a turn. The words are a guest's; only those about the request may
   * pass.
   */
  readonly turnFailure: (reported: ReportedError) => FailureFacts;
  /** Translates the gateway's reports of its tools in a chat that streams. Absent when it makes none. */
  readonly toolStep?: ReadToolStep;
  /** Returns null when this runtime, or this agent, has no such page. */
  web(guest: GuestAddress, facts: RuntimeFacts, settings: AgentSettings, page: WebPage): WebEndpoint | null;
}

/** Thrown when the runtime's work did not end in time. */
export class RuntimeBusy extends NamedError {}

export interface RuntimeHealth {
  /** Null when its gateway answers; else the problem, for the operator. */
  readonly gateway: string | null;
  /** Processes that the guest's kernel has killed for want of memory since it booted; null when the guest does not say. */
  readonly oomKills: number | null;
  readonly diskFreeMib: number | null;
}

export interface RuntimeLogPiece {
  /** Each message has at most `maxLogLine` + 1 characters. */
  readonly lines: readonly RuntimeLogLine[];
  readonly nextOffset: number;
  /** Number of lines of the piece that were not inspected. */
  readonly leftOut?: number;
}

export interface RuntimeLogLine {
  readonly at: Date | null;
  readonly level: LogLevel;
  readonly message: string;
}
